//! `ServiceEscrow`: jobs, from their request to their settlement.

use super::AgentId;
use crate::{Address, ContractEvent, Hash256, Wei};
use serde::Deserialize;

/// Key of the contract in the gateway's configuration.
pub const CONTRACT: &str = "escrow";

crate::record_id!(
    /// A job, by its id in the escrow.
    JobId,
    "job"
);

/// A client requested a job of an agent and paid for it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    CONTRACT,
    "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, \
     bytes32 inputHash, string inputURI)"
)]
pub struct JobRequested {
    pub job_id: JobId,
    pub agent_id: AgentId,
    pub client: Address,
    pub amount: Wei,
    pub input_hash: Hash256,
    /// Untrusted, of any length.
    #[serde(rename = "inputURI")]
    pub input_uri: String,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_read_from_the_arguments() {
        let (client, hash) = ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", format!("0x{}", "ab".repeat(32)));
        let arguments = serde_json::json!({
            "jobId": "7", "agentId": 3, "client": client, "amount": "1000000000000000000000", "inputHash": hash,
            "inputURI": "fmx://bounty/2",
        });
        let job: JobRequested = serde_json::from_value(arguments).unwrap();
        assert_eq!((job.job_id, job.agent_id, job.client.to_string()), (JobId(7), AgentId(3), client.to_owned()));
        assert_eq!(
            (job.amount.to_string(), job.input_uri),
            ("1000000000000000000000".to_owned(), "fmx://bounty/2".into())
        );
    }

    #[test]
    fn contract_and_signature_are_those_of_the_network() {
        assert_eq!(JobRequested::CONTRACT, "escrow");
        assert_eq!(
            JobRequested::SIGNATURE,
            "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, \
             bytes32 inputHash, string inputURI)"
        );
    }
}

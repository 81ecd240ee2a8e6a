//! `ServiceEscrow`: jobs, from their request to their settlement.

use super::AgentId;
use crate::{Address, Hash256, Wei, contracts::ContractEvent};
use serde::Deserialize;

/// Key of the contract in the gateway's configuration.
pub const CONTRACT: &str = "escrow";

crate::record_id!(
    /// A job, by its id in the escrow.
    ///
    /// ```
    /// use plugin_api::JobId;
    ///
    /// assert_eq!(serde_json::to_string(&JobId(7)).ok().as_deref(), Some("7"));
    /// ```
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

impl JobRequested {
    /// The number that the input cites, for example of a bounty: a job pays for the record when its input begins with
    /// `fmx://<kind>/<id>`, the scheme in any case.
    pub fn cites(&self, kind: &str) -> Option<i64> {
        let scheme = format!("fmx://{kind}/");
        let (start, rest) = self.input_uri.split_at_checked(scheme.len())?;
        let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
        digits.parse().ok().filter(|id| *id > 0 && start.eq_ignore_ascii_case(&scheme))
    }
}

/// The client accepted the delivery, or let the time to review it pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(CONTRACT, "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)")]
pub struct JobCompleted {
    pub job_id: JobId,
    pub agent_payout: Wei,
    pub fee: Wei,
    /// 1 to 5, or 0 without a review.
    pub rating: u8,
}

/// An arbiter divided what a disputed job paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    CONTRACT,
    "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)"
)]
pub struct JobResolved {
    pub job_id: JobId,
    pub client_amount: Wei,
    pub agent_payout: Wei,
    pub fee: Wei,
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
    fn a_job_cites_the_number_behind_the_scheme() {
        let cited = |input_uri: &str| {
            let (client, input_hash, input_uri) = (Address::ZERO, Hash256([0; 32]), input_uri.to_owned());
            let (job_id, agent_id, amount) = (JobId(1), AgentId(1), Wei::ZERO);
            JobRequested { job_id, agent_id, client, amount, input_hash, input_uri }.cites("bounty")
        };
        for uri in ["12", "12/more", "12?x=1", "012"]
            .map(|rest| [format!("fmx://bounty/{rest}"), format!("FMX://Bounty/{rest}")])
        {
            assert_eq!(uri.map(|uri| cited(&uri)), [Some(12); 2]);
        }
        let no_number = ["", "x1", "0", "-1", "99999999999999999999"].map(|rest| format!("fmx://bounty/{rest}"));
        let others = ["", " fmx://bounty/1", "fmx://arena/1", "fmx://bount\u{e9}/1", "ünïcödé-ünïcödé"];
        for uri in no_number.iter().map(String::as_str).chain(others) {
            assert_eq!(cited(uri), None, "{uri}");
        }
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

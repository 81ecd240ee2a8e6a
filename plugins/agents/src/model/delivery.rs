//! A delivery that the oracle may have validated.

use plugin_api::{Address, AgentId, Hash256, JobId, Wei};
use serde::Deserialize;

/// Longer URIs are replaced: the gateway pays for their bytes.
const URI_BYTES_MAX: usize = 256;
const ADDRESS_BYTES: usize = 20;

/// The output of a job.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Delivery {
    pub job_id: JobId,
    pub agent_id: AgentId,
    pub amount: Wei,
    /// Never zero.
    pub output_hash: Hash256,
    pub output_uri: Option<String>,
}

impl Delivery {
    /// Identifies the request in the gateway's journal: one for each output of a job.
    pub fn key(&self) -> String {
        format!("oracle:{}:{}", self.job_id, self.output_hash)
    }

    /// What the validator is told to read.
    pub fn request_uri(&self) -> String {
        let own = self.output_uri.as_ref().filter(|uri| !uri.is_empty() && uri.len() <= URI_BYTES_MAX);
        own.cloned().unwrap_or_else(|| format!("fmx://job/{}", self.job_id))
    }
}

/// Whether an agent's metadata `validator`, as `0x…`, names this address: by its last 20 bytes.
pub fn names_validator(metadata: &str, validator: Address) -> bool {
    let digits = metadata.strip_prefix("0x").unwrap_or(metadata);
    let start = digits.len().checked_sub(2 * ADDRESS_BYTES);
    let last = start.and_then(|start| digits.get(start..)).map(|digits| format!("0x{}", digits.to_lowercase()));
    last.and_then(|text| text.parse().ok()) == Some(validator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(output_uri: Option<&str>) -> Delivery {
        let (job_id, agent_id, amount) = (JobId(7), AgentId(3), Wei::ZERO);
        Delivery {
            job_id,
            agent_id,
            amount,
            output_hash: Hash256([0xab; 32]),
            output_uri: output_uri.map(str::to_owned),
        }
    }

    #[test]
    fn a_long_uri_is_replaced_by_the_jobs() {
        let longest = "x".repeat(256);
        assert_eq!(delivery(Some("ipfs://o")).request_uri(), "ipfs://o");
        assert_eq!(delivery(Some(&longest)).request_uri(), longest);
        for uri in [None, Some(""), Some(&*format!("{longest}y")), Some(&*"ü".repeat(129))] {
            assert_eq!(delivery(uri).request_uri(), "fmx://job/7", "{uri:?}");
        }
        assert_eq!(delivery(None).key(), format!("oracle:7:0x{}", "ab".repeat(32)));
    }

    #[test]
    fn the_validator_is_the_last_20_bytes() {
        let validator = Address([0xcd; 20]);
        let digits = "cd".repeat(20);
        for metadata in
            [format!("0x{digits}"), format!("0x{}", digits.to_uppercase()), format!("0x{}{digits}", "00".repeat(12))]
        {
            assert!(names_validator(&metadata, validator), "{metadata}");
        }
        for metadata in
            ["0x".to_owned(), format!("0x{}", "cd".repeat(19)), format!("0x{}", "ce".repeat(20)), "ü".repeat(40)]
        {
            assert!(!names_validator(&metadata, validator), "{metadata}");
        }
    }
}

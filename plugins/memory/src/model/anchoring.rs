//! Payload of `memory.anchor`, and its checked form.

use super::BATCH_RECORDS_MAX;
use crate::{error::MemoryError, limits::URI_BYTES_MAX};
use plugin_api::{AgentId, Hash256, JsonSchema};
use serde::Deserialize;

const RECORDS_DEFAULT: i64 = 512;

/// Payload of `memory.anchor`: `{}` asks for a batch, `txHash` records the transaction that anchors one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAnchor {
    /// An agent of the signer; without it, the one with the lowest id.
    #[serde(default)]
    agent_id: Option<AgentId>,
    /// Stored with the batch and given to the contract, at most 256 bytes.
    #[serde(default)]
    uri: Option<String>,
    /// Records of a new batch, 1 to 4,096; 512 when it is absent.
    #[serde(default)]
    limit: Option<i64>,
    /// The transaction that anchors a batch.
    #[serde(default)]
    tx_hash: Option<String>,
    /// With `txHash`: which batch. Without it the newest that is not anchored.
    #[serde(default)]
    root: Option<String>,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Anchoring {
    Build { uri: String, limit: u32 },
    Record { tx: Hash256, root: Option<Hash256> },
}

impl NewAnchor {
    pub fn check(self) -> Result<(Option<AgentId>, Anchoring), MemoryError> {
        let hash = |member, text: &str| {
            text.trim().to_ascii_lowercase().parse::<Hash256>().map_err(|_expected| MemoryError::Hash { member })
        };
        let root = self.root.as_deref().map(|text| hash("root", text)).transpose()?;
        if let Some(tx) = self.tx_hash.as_deref() {
            return Ok((self.agent_id, Anchoring::Record { tx: hash("txHash", tx)?, root }));
        }
        let uri = self.uri.unwrap_or_default();
        if uri.len() > URI_BYTES_MAX {
            return Err(MemoryError::LongUri { bytes: uri.len() });
        }
        let limit = self.limit.unwrap_or(RECORDS_DEFAULT).clamp(1, i64::from(BATCH_RECORDS_MAX));
        Ok((self.agent_id, Anchoring::Build { uri, limit: u32::try_from(limit).unwrap_or(BATCH_RECORDS_MAX) }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn checked(json: &str) -> Result<(Option<AgentId>, Anchoring), MemoryError> {
        serde_json::from_str::<NewAnchor>(json).unwrap().check()
    }

    #[test]
    fn an_empty_payload_asks_for_a_batch() {
        let build = |limit| Anchoring::Build { uri: String::new(), limit };
        assert_eq!(checked("{}"), Ok((None, build(512))));
        for (given, limit) in [(0, 1), (-5, 1), (7, 7), (4096, 4096), (5000, 4096)] {
            assert_eq!(checked(&format!("{{\"limit\":{given}}}")), Ok((None, build(limit))));
        }
        assert_eq!(checked("{\"agentId\":\"3\"}"), Ok((Some(AgentId(3)), build(512))));
        let long = format!("{{\"uri\":\"{}\"}}", "ä".repeat(129));
        assert_eq!(checked(&long), Err(MemoryError::LongUri { bytes: 258 }));
    }

    #[test]
    fn a_transaction_is_recorded() {
        let hash = format!("0x{}", "aB".repeat(32));
        let tx = hash.to_lowercase().parse().unwrap();
        let record = |root| Ok((None, Anchoring::Record { tx, root }));
        assert_eq!(checked(&format!("{{\"txHash\":\"{hash}\"}}")), record(None));
        assert_eq!(checked(&format!("{{\"txHash\":\" {hash} \",\"root\":\"{hash}\"}}")), record(Some(tx)));
        assert_eq!(checked("{\"txHash\":\"0x1\"}"), Err(MemoryError::Hash { member: "txHash" }));
        assert_eq!(checked("{\"root\":\"1\"}"), Err(MemoryError::Hash { member: "root" }));
    }
}

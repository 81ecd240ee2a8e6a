//! The signers of a Clique network, and which of them seal blocks. Nodes of other networks lack `clique_status`.

use super::{error::RpcError, rpc_client::RpcRequest, rpc_server::RpcServer};
use alloy_primitives::Address;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// The signers of the last blocks, as `/api/status` shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CliqueSigners {
    pub total: usize,
    pub active: usize,
    /// Signers that sealed none of the blocks.
    pub silent: Vec<String>,
    /// Number of these blocks.
    pub window: u64,
    /// Share of blocks that the in-turn signer sealed.
    pub inturn_percent: Option<f64>,
}

/// The response of geth to `clique_status`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliqueStatus {
    sealer_activity: BTreeMap<Address, u64>,
    inturn_percent: Option<f64>,
    num_blocks: u64,
}

impl From<CliqueStatus> for CliqueSigners {
    fn from(status: CliqueStatus) -> Self {
        let silent = status.sealer_activity.iter().filter(|(_, sealed)| **sealed == 0);
        let silent: Vec<String> = silent.map(|(signer, _)| signer.to_checksum(None)).collect();
        let total = status.sealer_activity.len();
        Self {
            total,
            active: total - silent.len(),
            silent,
            window: status.num_blocks,
            inturn_percent: status.inturn_percent.map(|percent| (percent * 10.0).round() / 10.0),
        }
    }
}

impl CliqueSigners {
    pub(crate) async fn fetch(server: &RpcServer) -> Result<Self, RpcError> {
        let status: CliqueStatus = server.call(RpcRequest::new("clique_status", json!([]))).await?;
        Ok(status.into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_response_of_geth_is_parsed() {
        let status = json!({
            "inturnPercent": 98.4375, "numBlocks": 64,
            "sealerActivity": {
                "0x42eb768f2244c8811c63729a21a3569731535f06": 64, "0x7ffc57839b00206d1ad20c69a1981b489f772031": 0,
            },
        });
        let signers = CliqueSigners::from(serde_json::from_value::<CliqueStatus>(status).unwrap());
        assert_eq!(
            json!(signers),
            json!({
                "total": 2, "active": 1, "silent": ["0x7ffC57839B00206D1ad20c69A1981b489f772031"], "window": 64,
                "inturnPercent": 98.4
            })
        );
    }
}

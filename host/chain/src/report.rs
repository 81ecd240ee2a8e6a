//! What operators see of the chains: heads and RPC servers.

use super::{chains::Chains, rpc_server::RpcServerReport};
use serde::Serialize;

/// A chain with its servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainReport {
    pub name: String,
    pub chain_id: u64,
    /// The newest block; None until a server reported one.
    pub head: Option<u64>,
    /// By the gateway's clock and the block's time.
    pub head_age_s: Option<i64>,
    /// In the order of the configuration.
    pub servers: Vec<RpcServerReport>,
}

impl Chains {
    pub fn reports(&self, now_s: i64) -> Vec<ChainReport> {
        let report = |chain: &super::Chain| {
            let header = chain.head().map(|head| head.header);
            let time_s = header.and_then(|header| i64::try_from(header.time_s).ok());
            ChainReport {
                name: chain.name.clone(),
                chain_id: chain.chain_id,
                head: header.map(|header| header.number),
                head_age_s: time_s.map(|time_s| now_s.saturating_sub(time_s).max(0)),
                servers: chain.reports(),
            }
        };
        self.iter().map(|chain| report(chain)).collect()
    }
}

//! Who seals the blocks of a Clique network, and whether all of them do. Nodes of other networks have no answer, which is none.

use super::{Chain, error::RpcFailure, rpc::Call, source::Source};
use alloy_primitives::Address;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeMap, time::Duration};

const PAUSE: Duration = Duration::from_secs(30);
/// Before a node is asked again that has no such question.
const LONG_PAUSE: Duration = Duration::from_secs(600);

/// The signers of the last blocks, as `/api/status` tells them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sealers {
    pub total: usize,
    pub active: usize,
    /// Those that sealed none of them.
    pub silent: Vec<String>,
    /// How many blocks these are.
    pub window: u64,
    /// How many were sealed by the one whose turn it was.
    pub inturn_percent: Option<f64>,
}

/// The answer of geth to `clique_status`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    sealer_activity: BTreeMap<Address, u64>,
    inturn_percent: Option<f64>,
    num_blocks: u64,
}

impl From<Told> for Sealers {
    fn from(told: Told) -> Self {
        let silent = told.sealer_activity.iter().filter(|(_, sealed)| **sealed == 0);
        let silent: Vec<String> = silent.map(|(signer, _)| signer.to_checksum(None)).collect();
        let total = told.sealer_activity.len();
        Self {
            total,
            active: total - silent.len(),
            silent,
            window: told.num_blocks,
            inturn_percent: told.inturn_percent.map(|percent| (percent * 10.0).round() / 10.0),
        }
    }
}

impl Chain {
    pub fn sealers(&self) -> Option<Sealers> {
        self.sealers.lock().clone()
    }
}

/// Asks the preferred server now and then, for ever. That it cannot tell says nothing of the server.
pub async fn watch(chain: &Chain) {
    // Until a server is there to be asked.
    let _ = chain.follow().wait_for(Option::is_some).await;
    loop {
        let told = match chain.sources.get(chain.current()) {
            Some(source) => ask(source).await.map(Some),
            None => Ok(None),
        };
        let pause = if matches!(&told, Err(failure) if failure.is_refusal()) { LONG_PAUSE } else { PAUSE };
        *chain.sealers.lock() = told.ok().flatten().map(Sealers::from);
        tokio::time::sleep(pause).await;
    }
}

async fn ask(source: &Source) -> Result<Told, RpcFailure> {
    source.call(Call::new("clique_status", json!([]))).await
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_geth_is_understood() {
        let told = json!({
            "inturnPercent": 98.4375, "numBlocks": 64,
            "sealerActivity": {
                "0x42eb768f2244c8811c63729a21a3569731535f06": 64, "0x7ffc57839b00206d1ad20c69a1981b489f772031": 0,
            },
        });
        let sealers = Sealers::from(serde_json::from_value::<Told>(told).unwrap());
        assert_eq!(
            json!(sealers),
            json!({
                "total": 2, "active": 1, "silent": ["0x7ffC57839B00206D1ad20c69A1981b489f772031"], "window": 64,
                "inturnPercent": 98.4
            })
        );
    }
}

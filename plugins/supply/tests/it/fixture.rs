//! A gateway with the plugin, and a chain whose numbers the tests know.

use plugin_testing::{Builder, ScriptedChain, TestGateway, TestResponse, Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
/// More than the time from one snapshot to the next.
pub const ROUND: Duration = Duration::from_secs(31);
/// Longer than most runs of the job take. After a slower one the next round finds its snapshot.
const ROUND_WAIT: Duration = Duration::from_millis(500);
pub const COIN: u128 = 1_000_000_000_000_000_000;

/// 1,000 coins at genesis, 2 coins for each block, halved at every multiple of 40 blocks.
pub fn config() -> Value {
    json!({
        "issuance": {
            "genesis_wei": (1000 * COIN).to_string(), "first_block": 1,
            "reward_wei": (2 * COIN).to_string(), "halving_blocks": 40,
        },
        "excluded": [],
    })
}

pub fn prepared(builder: Builder, chain: &ScriptedChain, config: &Value) -> Builder {
    builder.plugin(supply::plugin_module()).config("supply", config.clone()).chain(chain, &[])
}

/// A gateway on each database, one after the other, each with a chain of its own.
pub async fn each(config: Value, test: impl AsyncFn(&ScriptedChain, TestGateway) -> TestGateway) {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = ScriptedChain::start().await;
        let gateway = prepared(builder, &chain, &config).start().await;
        let gateway = test(&chain, gateway).await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

/// Lets rounds of the job pass until the snapshot of the newest block but 64 is there, and returns it.
pub async fn taken(gateway: &TestGateway, chain: &ScriptedChain) -> Value {
    let block = chain.head() - 64;
    let is_it = async || {
        let supply = gateway.get("/api/supply").await.json();
        supply["asOfBlock"] == block && supply["stale"].is_null()
    };
    rounds(gateway, &format!("a snapshot of block {block}"), is_it).await;
    gateway.get("/api/supply").await.json()
}

/// Lets rounds of the job pass until this holds. Within a round nothing but the job goes on.
pub async fn rounds(gateway: &TestGateway, what: &str, holds: impl AsyncFn() -> bool) {
    TestGateway::eventually(LIMIT, what, async || {
        gateway.clock().advance(ROUND).await;
        let waits = async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(ROUND_WAIT, waits).await.is_ok()
    })
    .await;
}

pub async fn get(gateway: &TestGateway, path: &str) -> TestResponse {
    gateway.get(path).await
}

/// How many steps of the count are stored.
pub async fn counted(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT block FROM supply_burns ORDER BY block").await
}

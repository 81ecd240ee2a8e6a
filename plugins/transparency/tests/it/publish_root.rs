//! The root on the chain.

use super::{LIMIT, ORIGIN, builders, close, json, publish, signed};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_testing::{Builder, ScriptedChain, TestGateway, Value, Wallet};
use std::time::Duration;

const KEY: u64 = 900;
const MINUTE: Duration = Duration::from_secs(60);
const TO: &str = "0x00000000000000000000000000000000000000ee";

async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    chain.set_balance(Wallet::new(KEY).address().parse().unwrap(), "1000000000000000000000");
    chain
}

fn publishing(builder: Builder, chain: &ScriptedChain) -> Builder {
    let settings = json!({ "origin": ORIGIN, "publish": { "to": TO, "every_s": 120 } });
    builder.chain(chain, &[]).config("transparency", settings)
}

/// Sizes and roots in the data of the transactions that were mined.
fn published(chain: &ScriptedChain) -> Vec<(u64, String)> {
    let of = |input: &[u8]| {
        let (root, size) = input.split_at(32);
        (u64::from_be_bytes(size.try_into().unwrap()), STANDARD.encode(root))
    };
    chain
        .mined()
        .iter()
        .map(|tx| {
            assert_eq!(tx.to.to_string().to_lowercase(), TO);
            of(&tx.data)
        })
        .collect()
}

/// Lets time pass until so many transactions were mined.
async fn mined(gateway: &TestGateway, chain: &ScriptedChain, count: usize) {
    TestGateway::eventually(LIMIT, "the transaction", async || {
        gateway.clock().advance(Duration::from_millis(100)).await;
        if !chain.waiting().is_empty() {
            chain.mine_empty(1);
        }
        chain.mined().len() == count
    })
    .await;
}

fn root_of(note: &str) -> String {
    note.lines().nth(2).unwrap().to_owned()
}

#[tokio::test]
async fn each_interval_publishes_the_newest_root_once() {
    for builder in builders().await {
        let chain = chain().await;
        let gateway = publishing(builder, &chain).signer("log", KEY).start().await;
        publish(&gateway, 2).await;
        let first = signed(&gateway, 2).await;
        gateway.clock().advance(MINUTE).await;
        mined(&gateway, &chain, 1).await;
        assert_eq!(published(&chain), [(2, root_of(&first))]);

        // Within the interval, and without a new checkpoint, nothing is sent.
        publish(&gateway, 1).await;
        let second = signed(&gateway, 3).await;
        gateway.clock().advance(2 * MINUTE).await;
        mined(&gateway, &chain, 2).await;
        for _ in 0..3 {
            gateway.clock().advance(MINUTE).await;
        }
        assert_eq!(published(&chain), [(2, root_of(&first)), (3, root_of(&second))]);
        let rows = gateway.rows("SELECT size FROM transparency_publications ORDER BY size").await;
        assert_eq!(rows, ["Int(2)", "Int(3)"]);
        let service = gateway.get("/api/status").await.json()["services"]["transparencyLog"].clone();
        assert_eq!((&service["publishedSize"], &service["ok"]), (&json!(3), &json!(true)), "{service}");
        close(gateway).await;
    }
}

#[tokio::test]
async fn without_a_key_the_log_goes_on_and_nothing_is_sent() {
    for builder in builders().await {
        let chain = chain().await;
        let gateway = publishing(builder, &chain).start().await;
        publish(&gateway, 1).await;
        signed(&gateway, 1).await;
        gateway.clock().advance(MINUTE).await;
        publish(&gateway, 1).await;
        signed(&gateway, 2).await;
        let status = gateway.get("/api/status").await.json();
        let service = &status["services"]["transparencyLog"];
        assert_eq!((&service["ok"], &service["publishedSize"]), (&json!(true), &Value::Null), "{service}");
        assert!(chain.mined().is_empty() && chain.waiting().is_empty());
        close(gateway).await;
    }
}

//! `GET /api/tx/{hash}`: any hash of an intent leads to its state, and to nothing of the plugin.

use super::{DEPTH, becomes, each, pay, payment, status, until, waits};
use plugin_api::chain::TxState;
use plugin_testing::{TestGateway, Value, json};
use std::time::Duration;

async fn read(gateway: &TestGateway, hash: &str) -> Value {
    let answer = gateway.get(&format!("/api/tx/{hash}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn every_hash_of_a_replaced_transaction_says_what_became_of_it() {
    each(async |chain, gateway| {
        chain.set_block_tip_min(10_000_000_000_000);
        pay(gateway, payment(1)).await;
        let first = becomes(gateway, "1", TxState::Sent).await.hash.unwrap();
        // Nobody mines it at that fee, so it is signed again.
        let is_replaced = async || {
            gateway.clock().advance(Duration::from_secs(5)).await;
            chain.mine_empty(1);
            status(gateway, "1").await.hash != Some(first)
        };
        tokio::time::timeout(super::MINUTE, until(is_replaced)).await.unwrap();
        chain.set_block_tip_min(0);
        let newest = status(gateway, "1").await.hash.unwrap();
        let of_first = read(gateway, &first.to_string()).await;
        let state = of_first["state"].as_str().unwrap();
        assert!(["sent", "signed"].contains(&state), "{of_first}");
        let expected = json!({
            "hash": first, "txHash": newest, "state": state, "chain": "main", "block": null, "confirmations": 0,
            "succeeded": null,
        });
        assert_eq!(of_first, expected);
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        let last = becomes(gateway, "1", TxState::Final).await;
        let upper = format!("0x{}", first.to_string().trim_start_matches("0x").to_uppercase());
        let done = read(gateway, &upper).await;
        assert_eq!((&done["state"], &done["succeeded"]), (&json!("final"), &json!(true)), "{done}");
        assert_eq!((&done["txHash"], &done["block"]), (&json!(last.hash), &json!(last.block)), "{done}");
    })
    .await;
}

#[tokio::test]
async fn other_hashes_are_unknown_or_none() {
    each(async |_, gateway| {
        let unknown = gateway.get(&format!("/api/tx/0x{}", "ab".repeat(32))).await;
        assert_eq!((unknown.status, &unknown.json()["code"]), (404, &json!("not_found")));
        for text in ["0x12", "ab", &"ab".repeat(32), &format!("0x{}", "zz".repeat(32))] {
            let refused = gateway.get(&format!("/api/tx/{text}")).await;
            assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("bad_hash")), "{text}");
        }
    })
    .await;
}

//! `GET /api/memory`

use super::{FREE_BYTES, MEMORY, finish, gateways, gateways_with, list, refusal, send_headers, store};
use plugin_testing::{Value, Wallet, json};
use std::time::Duration;

#[tokio::test]
async fn an_address_without_keys_has_an_empty_list() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        let expected = json!({
            "address": wallet.address(), "items": [], "usedBytes": 0, "keys": 0, "freeBytes": FREE_BYTES, "paidBytes": 0,
            "quotaBytes": FREE_BYTES,
            "pricing": { "perBlockWei": "10000000000000000", "blockBytes": 65536, "creditTtlSeconds": 2_592_000, "payTo": null },
        });
        assert_eq!(list(&gateway, &wallet).await, expected);
        assert_eq!(refusal(&gateway.get(MEMORY).await), (401, "bad_sig".to_owned()));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn keys_are_listed_in_their_order_with_sizes_and_quota() {
    let (wallet, other) = (Wallet::new(1), Wallet::new(2));
    let treasury = "0x0000000000000000000000000000000000001234";
    for gateway in gateways_with(|builder| builder.config("memory", json!({ "treasury": treasury }))).await {
        let begun = gateway.now_s();
        for key in ["b", "a.1", "B", "10", "9", "a"] {
            store(&gateway, &wallet, key, json!(key)).await;
        }
        store(&gateway, &other, "foreign", json!(1)).await;
        gateway.clock().advance(Duration::from_secs(5)).await;
        store(&gateway, &wallet, "a", json!("four")).await;
        let listed = list(&gateway, &wallet).await;
        let keys: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["key"]).collect();
        assert_eq!(keys, ["10", "9", "B", "a", "a.1", "b"]);
        let first = json!({ "key": "10", "size": 2, "bytes": 2, "createdAt": begun, "updatedAt": begun });
        let changed = json!({ "key": "a", "size": 4, "bytes": 4, "createdAt": begun, "updatedAt": begun + 5 });
        assert_eq!((&listed["items"][0], &listed["items"][3]), (&first, &changed));
        assert_eq!((&listed["usedBytes"], &listed["keys"]), (&json!(2 + 1 + 1 + 4 + 3 + 1), &json!(6)));
        assert_eq!(listed["pricing"]["payTo"], treasury);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_signature_may_be_over_nothing_or_an_empty_object() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        for signed in ["", "{}"] {
            let listed = send_headers(&gateway, ("GET", MEMORY), &wallet, ("memory.get", signed), "").await;
            assert_eq!(listed.status, 200, "{signed:?}: {}", listed.text());
        }
        finish(gateway).await;
    }
}

/// A name that was moved to another row does not open there.
#[tokio::test]
async fn a_sealed_name_opens_in_its_own_row_only() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        store(&gateway, &wallet, "a", json!("x")).await;
        store(&gateway, &wallet, "b", json!("yy")).await;
        gateway.execute("UPDATE memory_values SET sealed_name = (SELECT v.sealed_name FROM memory_values v WHERE v.size = 1) WHERE size = 2").await;
        let refused = send_headers(&gateway, ("GET", MEMORY), &wallet, ("memory.get", ""), "").await;
        assert_eq!(refused.status, 500, "{}", refused.text());
        gateway.stop().await;
    }
}

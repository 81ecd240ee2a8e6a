//! `GET /api/memory/{key}`

use super::{finish, gateways, get, path_of, refusal, send_headers, store, value_of};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

#[tokio::test]
async fn a_value_is_read_by_its_owner() {
    let (owner, stranger) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways().await {
        let begun = gateway.now_s();
        store(&gateway, &owner, "plan", json!("{\"a\": 1.50}")).await;
        gateway.clock().advance(Duration::from_secs(3)).await;
        let read = get(&gateway, &owner, "plan").await;
        assert_eq!((read.status, read.header("cache-control")), (200, "private, no-store"), "{}", read.text());
        let expected = json!({
            "address": owner.address(), "key": "plan", "value": { "a": 1.5 }, "size": 11, "createdAt": begun,
            "updatedAt": begun,
        });
        assert_eq!(read.json(), expected);
        assert!(read.text().contains("{\"a\": 1.50}"), "the stored text, not another form of it: {}", read.text());
        for (wallet, key) in [(&stranger, "plan"), (&owner, "other"), (&owner, "Plan")] {
            assert_eq!(refusal(&get(&gateway, wallet, key).await), (404, "not_found".to_owned()), "{key}");
        }
        assert_eq!(refusal(&get(&gateway, &owner, ".plan").await), (400, "bad_request".to_owned()));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_text_that_is_json_comes_back_as_json() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        for (number, (given, read)) in [
            (json!("text"), json!("text")),
            (json!("7"), json!(7)),
            (json!("\"quoted\""), json!("quoted")),
            (json!("[1,"), json!("[1,")),
            (json!(null), json!(null)),
            (json!(true), json!(true)),
            (json!({ "z": 1, "a": { "10": 1, "9": 2 } }), json!({ "z": 1, "a": { "10": 1, "9": 2 } })),
        ]
        .into_iter()
        .enumerate()
        {
            let key = format!("k{number}");
            store(&gateway, &wallet, &key, given).await;
            assert_eq!(value_of(&gateway, &wallet, &key).await, read);
        }
        finish(gateway).await;
    }
}

/// Deployed clients sign one of three bodies.
#[tokio::test]
async fn the_signature_may_be_over_nothing_an_empty_object_or_the_body() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        store(&gateway, &wallet, "k", json!(1)).await;
        let body = "{\"key\":\"k\"}";
        for (signed, body) in [("", ""), ("{}", ""), ("{}", "{}"), ("", body), ("{}", body), (body, body)] {
            let read = send_headers(&gateway, ("GET", &path_of("k")), &wallet, ("memory.get", signed), body).await;
            assert_eq!(read.status, 200, "{signed:?} with {body:?}: {}", read.text());
        }
        let query = wallet.signed_query("memory.get", gateway.now_s());
        assert_eq!(gateway.get(&format!("{}?{query}", path_of("k"))).await.status, 200);
        // The same signature may be sent again, but not for another key than it names.
        let other = send_headers(&gateway, ("GET", &path_of("other")), &wallet, ("memory.get", body), body).await;
        assert_eq!(refusal(&other), (400, "bad_sig".to_owned()), "{}", other.text());
        let unsigned = gateway.get(&path_of("k")).await;
        assert_eq!(refusal(&unsigned), (401, "bad_sig".to_owned()), "{}", unsigned.text());
        let deleting = send_headers(&gateway, ("GET", &path_of("k")), &wallet, ("memory.delete", ""), "").await;
        assert_eq!(refusal(&deleting), (401, "sig_mismatch".to_owned()), "{}", deleting.text());
        finish(gateway).await;
    }
}

async fn status_of(gateway: &TestGateway, wallet: &Wallet, key: &str) -> u16 {
    get(gateway, wallet, key).await.status
}

/// Whoever changes the database moves no value to another key or owner.
#[tokio::test]
async fn a_sealed_value_opens_in_its_own_row_only() {
    let (one, two) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways().await {
        store(&gateway, &one, "a", json!("first")).await;
        store(&gateway, &one, "b", json!("longer")).await;
        store(&gateway, &two, "a", json!("x")).await;
        // 5 bytes, 6 bytes and 1 byte: the sizes tell the rows apart.
        gateway.execute("UPDATE memory_values SET sealed_value = (SELECT v.sealed_value FROM memory_values v WHERE v.size = 5) WHERE size = 6").await;
        assert_eq!(status_of(&gateway, &one, "b").await, 500);
        gateway.execute("UPDATE memory_values SET sealed_value = (SELECT v.sealed_value FROM memory_values v WHERE v.size = 5) WHERE size = 1").await;
        assert_eq!(status_of(&gateway, &two, "a").await, 500);
        assert_eq!(status_of(&gateway, &one, "a").await, 200);
        let faults = gateway.faults().await.join(" ");
        assert!(faults.contains("it does not open") && !faults.contains("first"), "{faults}");
        gateway.stop().await;
    }
}

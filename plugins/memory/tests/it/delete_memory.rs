//! `DELETE /api/memory/{key}`

use super::{
    FREE_BYTES, delete, finish, fixture::assert_record, gateways, get, list, path_of, refusal, send_headers, store,
};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_value_is_deleted_and_its_record_appended() {
    let (owner, stranger) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways().await {
        let stored = store(&gateway, &owner, "k", json!("hello")).await;
        store(&gateway, &owner, "other", json!("stays")).await;
        assert_eq!(refusal(&delete(&gateway, &stranger, "k").await), (404, "not_found".to_owned()));
        let deleted = delete(&gateway, &owner, "k").await;
        assert_eq!(deleted.status, 200, "{}", deleted.text());
        let mut deleted = deleted.json();
        let record = deleted["record"].take();
        let expected = json!({
            "address": owner.address(), "key": "k", "deleted": true, "ok": true, "usedBytes": 5, "keys": 1,
            "freeBytes": FREE_BYTES, "paidBytes": 0, "quotaBytes": FREE_BYTES, "record": null,
        });
        assert_eq!(deleted, expected);
        assert_eq!(record["seq"], 3);
        assert_ne!(record["keyCommit"], stored["record"]["keyCommit"], "each record has a nonce of its own");
        assert_record(owner.address(), "del", "k", "", &record);
        assert_eq!(get(&gateway, &owner, "k").await.status, 404);
        assert_eq!(list(&gateway, &owner).await["keys"], 1);
        // Signed anew: the first signature was used up.
        gateway.clock().advance(std::time::Duration::from_secs(1)).await;
        assert_eq!(refusal(&delete(&gateway, &owner, "k").await), (404, "not_found".to_owned()));
        assert_eq!(refusal(&delete(&gateway, &owner, ".k").await), (400, "bad_request".to_owned()));
        assert_eq!(refusal(&delete(&gateway, &owner, "anchors").await), (404, "not_found".to_owned()));
        finish(gateway).await;
    }
}

/// Deployed clients sign one of three bodies.
#[tokio::test]
async fn the_signature_may_be_over_nothing_an_empty_object_or_the_body() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        let body = "{\"key\":\"k\"}";
        for (signed, body) in [("", ""), ("{}", ""), (body, body), ("{}", body)] {
            gateway.clock().advance(std::time::Duration::from_secs(1)).await;
            store(&gateway, &wallet, "k", json!(1)).await;
            let action = ("memory.delete", signed);
            let deleted = send_headers(&gateway, ("DELETE", &path_of("k")), &wallet, action, body).await;
            assert_eq!(deleted.status, 200, "{signed:?} with {body:?}: {}", deleted.text());
        }
        store(&gateway, &wallet, "other", json!(1)).await;
        let other = send_headers(&gateway, ("DELETE", &path_of("other")), &wallet, ("memory.delete", body), body).await;
        assert_eq!(refusal(&other), (400, "bad_sig".to_owned()), "{}", other.text());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_signature_counts_once() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        store(&gateway, &wallet, "a", json!(1)).await;
        store(&gateway, &wallet, "b", json!(1)).await;
        let delete = async |key: &str| {
            send_headers(&gateway, ("DELETE", &path_of(key)), &wallet, ("memory.delete", "{}"), "").await
        };
        assert_eq!(delete("a").await.status, 200);
        // It names no key, so it would be good for the other one.
        assert_eq!(refusal(&delete("b").await), (409, "replay".to_owned()));
        assert_eq!(list(&gateway, &wallet).await["keys"], 1);
        finish(gateway).await;
    }
}

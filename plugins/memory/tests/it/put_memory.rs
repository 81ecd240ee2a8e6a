//! `PUT /api/memory/{key}`

use super::{
    FREE_BYTES, MEMORY, RECORD_BYTES, VALUE_BYTES_MAX, ZERO, delete, finish, fixture::assert_record, gateways,
    gateways_with, get, list, path_of, put, refusal, store, value_of,
};
use plugin_testing::{Builder, TestGateway, Value, Wallet, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn a_value_is_stored_with_its_record_and_replaced() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        let begun = gateway.now_s();
        let first = put(&gateway, &wallet, "plan", json!("hello")).await;
        assert_eq!((first.status, first.header("cache-control")), (201, "private, no-store"), "{}", first.text());
        let mut first = first.json();
        let record = first["record"].take();
        let expected = json!({
            "address": wallet.address(), "key": "plan", "size": 5, "createdAt": begun, "updatedAt": begun,
            "usedBytes": 5, "keys": 1, "freeBytes": FREE_BYTES, "paidBytes": 0, "quotaBytes": FREE_BYTES, "record": null,
        });
        assert_eq!(first, expected);
        assert_eq!((&record["seq"], &record["prev"], &record["ts"]), (&json!(1), &json!(ZERO), &json!(begun)));
        assert_record(wallet.address(), "put", "plan", "hello", &record);

        gateway.clock().advance(Duration::from_secs(7)).await;
        let second = put(&gateway, &wallet, "plan", json!({ "b": 1, "a": [true, null] })).await;
        let (status, second) = (second.status, second.json());
        let text = r#"{"a":[true,null],"b":1}"#;
        assert_eq!((status, &second["size"], &second["usedBytes"]), (200, &json!(text.len()), &json!(text.len())));
        assert_eq!((&second["createdAt"], &second["updatedAt"]), (&json!(begun), &json!(begun + 7)));
        assert_eq!((&second["record"]["seq"], &second["record"]["prev"]), (&json!(2), &record["recordHash"]));
        assert_record(wallet.address(), "put", "plan", text, &second["record"]);
        assert_eq!(value_of(&gateway, &wallet, "plan").await, json!({ "a": [true, null], "b": 1 }));
        assert!(gateway.events().await.is_empty(), "a write publishes nothing");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_records_of_an_address_are_a_chain() {
    let (one, two) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways().await {
        let mut prev = json!(ZERO);
        for (number, (key, text)) in [("a", "1"), ("b", ""), ("a", "zwei ä😀"), ("c", "{}")].into_iter().enumerate()
        {
            let record = store(&gateway, &one, key, json!(text)).await["record"].clone();
            assert_eq!((&record["seq"], &record["prev"]), (&json!(number + 1), &prev));
            assert_record(one.address(), "put", key, text, &record);
            prev = record["recordHash"].clone();
            // Another address has a log of its own.
            let foreign = store(&gateway, &two, key, json!(text)).await["record"].clone();
            assert_eq!(foreign["seq"], number + 1);
        }
        let deleted = delete(&gateway, &one, "a").await.json()["record"].clone();
        assert_eq!((&deleted["seq"], &deleted["prev"]), (&json!(5), &prev));
        assert_record(one.address(), "del", "a", "", &deleted);
        let again = store(&gateway, &one, "a", json!("back")).await["record"].clone();
        assert_eq!((&again["seq"], &again["prev"]), (&json!(6), &deleted["recordHash"]));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn any_text_up_to_64_kib() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        let texts = [
            "",
            " ",
            "ä😀\u{202e}\u{feff}",
            "\u{1}\n\t\"\\",
            &"x".repeat(VALUE_BYTES_MAX),
            &"ä".repeat(VALUE_BYTES_MAX / 2),
        ];
        for (number, text) in texts.into_iter().enumerate() {
            let key = format!("k{number}");
            assert_eq!(store(&gateway, &wallet, &key, json!(text)).await["size"], text.len());
            assert_eq!(value_of(&gateway, &wallet, &key).await, json!(text), "{number}");
        }
        for text in ["x".repeat(VALUE_BYTES_MAX + 1), format!("{}ä", "x".repeat(VALUE_BYTES_MAX - 1))] {
            let large = put(&gateway, &wallet, "large", json!(text)).await;
            assert_eq!(refusal(&large), (413, "too_large".to_owned()), "{}", large.text());
        }
        // Of other JSON it is the text that counts.
        let items: Vec<u8> = vec![1; VALUE_BYTES_MAX / 2];
        let large = put(&gateway, &wallet, "large", json!(items)).await;
        assert_eq!(refusal(&large), (413, "too_large".to_owned()));
        assert_eq!(store(&gateway, &wallet, "list", json!(items[1..])).await["size"], VALUE_BYTES_MAX - 1);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn what_is_no_value_is_refused() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        // As in every signed body, U+0000 is refused.
        let nul = json!({ "value": "a\0" });
        for payload in [json!({}), json!({ "key": "k" }), json!({ "Value": 1 }), nul] {
            let refused = gateway.send_signed("PUT", &path_of("k"), &wallet, "memory.put", payload).await;
            assert_eq!(refusal(&refused), (400, "bad_request".to_owned()), "{}", refused.text());
        }
        let other_key = json!({ "key": "other", "value": 1 });
        let refused = gateway.send_signed("PUT", &path_of("k"), &wallet, "memory.put", other_key).await;
        assert_eq!(refusal(&refused), (400, "bad_sig".to_owned()), "{}", refused.text());
        // The key need not be signed.
        let stored = gateway.send_signed("PUT", &path_of("k"), &wallet, "memory.put", json!({ "value": 1 })).await;
        assert_eq!(stored.status, 201, "{}", stored.text());
        let other_action =
            gateway.send_signed("PUT", &path_of("k"), &wallet, "memory.get", json!({ "value": 2 })).await;
        assert_eq!(refusal(&other_action), (401, "sig_mismatch".to_owned()));
        assert_eq!(list(&gateway, &wallet).await["keys"], 1);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn keys_have_a_pattern_and_two_are_reserved() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        for key in [".a", "a%20b", "%C3%A4", "a%2Fb", &"x".repeat(129)] {
            let path = path_of(key);
            let refused = gateway.send_signed("PUT", &path, &wallet, "memory.put", json!({ "value": key })).await;
            assert_eq!(refusal(&refused), (400, "bad_request".to_owned()), "{key}: {}", refused.text());
            assert!(!refused.text().contains(key), "the error names the key: {}", refused.text());
        }
        for key in ["anchors", "proof"] {
            let reserved = put(&gateway, &wallet, key, json!(1)).await;
            assert_eq!(refusal(&reserved), (409, "reserved_key".to_owned()), "{key}: {}", reserved.text());
        }
        // A key that is called like the path of another method is one like any other.
        store(&gateway, &wallet, "anchor", json!("mine")).await;
        assert_eq!(value_of(&gateway, &wallet, "anchor").await, "mine");
        assert_eq!(delete(&gateway, &wallet, "anchor").await.status, 200);
        store(&gateway, &wallet, &"x".repeat(128), json!(1)).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_signature_counts_once() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        assert_eq!(put(&gateway, &wallet, "k", json!(1)).await.status, 201);
        let again = put(&gateway, &wallet, "k", json!(1)).await;
        assert_eq!(refusal(&again), (409, "replay".to_owned()), "{}", again.text());
        assert_eq!(store(&gateway, &wallet, "k", json!(2)).await["record"]["seq"], 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_address_has_so_many_keys() {
    let (one, two) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways_with(|builder| builder.config("memory", json!({ "keys_max": 2 }))).await {
        store(&gateway, &one, "a", json!(1)).await;
        store(&gateway, &one, "b", json!(1)).await;
        let refused = put(&gateway, &one, "c", json!(1)).await;
        assert_eq!(refusal(&refused), (409, "too_many_keys".to_owned()), "{}", refused.text());
        store(&gateway, &one, "b", json!(2)).await;
        store(&gateway, &two, "c", json!(1)).await;
        assert_eq!(delete(&gateway, &one, "a").await.status, 200);
        store(&gateway, &one, "c", json!(2)).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn writes_at_once_leave_no_gap_in_the_log() {
    const WRITES: usize = 20;
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        let writes = (0..WRITES).map(|number| {
            let (gateway, wallet) = (&gateway, &wallet);
            async move { put(gateway, wallet, &format!("k{}", number % 7), json!(number)).await }
        });
        let answers = futures_util::future::join_all(writes).await;
        // On PostgreSQL a write that conflicted too often is told so, and has left nothing.
        let (stored, busy): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.is_success());
        assert!(busy.iter().all(|answer| answer.status == 503), "{:?}", busy.first().map(|answer| answer.text()));
        let mut records: Vec<Value> = stored.iter().map(|answer| answer.json()["record"].clone()).collect();
        records.sort_by_key(|record| record["seq"].as_i64());
        let mut prev = json!(ZERO);
        for (record, seq) in records.iter().zip(1..) {
            assert_eq!((&record["seq"], &record["prev"]), (&json!(seq), &prev));
            prev = record["recordHash"].clone();
        }
        assert!(records.len() >= WRITES / 2, "{} of {WRITES}", records.len());
        let listed = list(&gateway, &wallet).await;
        let sum: i64 = listed["items"].as_array().unwrap().iter().map(|item| item["size"].as_i64().unwrap()).sum();
        assert_eq!(
            (&listed["usedBytes"], &listed["keys"]),
            (&json!(sum), &json!(listed["items"].as_array().unwrap().len()))
        );
        assert_eq!(gateway.rows("SELECT head_hash FROM memory_heads").await, [format!("Text({prev})")]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn acknowledged_values_survive_a_restart() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        store(&gateway, &wallet, "k", json!("kept")).await;
        let gateway = gateway.restart().await;
        assert_eq!(value_of(&gateway, &wallet, "k").await, "kept");
        assert_eq!(store(&gateway, &wallet, "k", json!("next")).await["record"]["seq"], 2);
        finish(gateway).await;
    }
}

fn with(settings: Value) -> impl Fn(Builder) -> Builder {
    move |builder| builder.config("memory", settings.clone())
}

/// What a value of this size counts.
fn counted(size: usize) -> i64 {
    i64::try_from(size).unwrap() + RECORD_BYTES
}

#[tokio::test]
async fn a_full_memory_takes_no_more() {
    let (one, two) = (Wallet::new(1), Wallet::new(2));
    let total = counted(VALUE_BYTES_MAX) + counted(10);
    for gateway in gateways_with(with(json!({ "total_bytes": total }))).await {
        store(&gateway, &one, "a", json!("x".repeat(VALUE_BYTES_MAX))).await;
        let refused = put(&gateway, &two, "b", json!("x".repeat(11))).await;
        assert_eq!(refusal(&refused), (507, "store_full".to_owned()), "{}", refused.text());
        store(&gateway, &two, "b", json!("x".repeat(10))).await;
        let refused = put(&gateway, &one, "c", json!("")).await;
        assert_eq!(refusal(&refused), (507, "store_full".to_owned()));
        assert_eq!(get(&gateway, &one, "c").await.status, 404);
        // Deleting is always allowed. It frees the value, and its record counts.
        assert_eq!(delete(&gateway, &one, "a").await.status, 200);
        store(&gateway, &one, "c", json!("x".repeat(VALUE_BYTES_MAX - 2048))).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_client_stores_so_much_a_day() {
    let wallet = Wallet::new(1);
    let day = counted(VALUE_BYTES_MAX) + counted(10);
    for gateway in gateways_with(with(json!({ "client_bytes_per_day": day }))).await {
        let ips = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"];
        let sizes = [VALUE_BYTES_MAX, 10, 0, 0];
        let mut answers = Vec::new();
        for (number, (ip, size)) in ips.into_iter().zip(sizes).enumerate() {
            gateway.set_client_ip(ip.parse().unwrap());
            answers.push(refusal(&put(&gateway, &wallet, &format!("k{number}"), json!("x".repeat(size))).await));
        }
        let stored = (201, String::new());
        assert_eq!(answers, [stored.clone(), stored.clone(), (429, "daily_bytes".to_owned()), stored]);
        gateway.set_client_ip(ips[0].parse().unwrap());
        let gateway = gateway.restart().await;
        gateway.set_client_ip(ips[0].parse().unwrap());
        // A replaced value counts as well, and a deleted one not.
        assert_eq!(put(&gateway, &wallet, "k1", json!("x")).await.status, 429);
        assert_eq!(delete(&gateway, &wallet, "k0").await.status, 200);
        gateway.clock().advance(DAY).await;
        assert_eq!(put(&gateway, &wallet, "k1", json!("x")).await.status, 200);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn calls_are_limited_by_client() {
    for gateway in gateways().await {
        gateway.set_client_ip("192.0.2.1".parse().unwrap());
        let (taken, limited) = gateway.until_limited("PUT", &format!("{MEMORY}/k")).await;
        assert_eq!((taken, refusal(&limited)), (120, (429, "rate_limited".to_owned())));
        finish(gateway).await;
    }
}

async fn used(gateway: &TestGateway, wallet: &Wallet) -> i64 {
    list(gateway, wallet).await["usedBytes"].as_i64().unwrap()
}

#[tokio::test]
async fn above_the_quota_nothing_is_stored_without_a_payment() {
    let wallet = Wallet::new(1);
    let quota = i64::try_from(2 * VALUE_BYTES_MAX).unwrap();
    let treasury = "0x0000000000000000000000000000000000001234";
    for settings in [json!({ "free_bytes": quota }), json!({ "free_bytes": quota, "treasury": treasury })] {
        for gateway in gateways_with(with(settings.clone())).await {
            store(&gateway, &wallet, "a", json!("a".repeat(VALUE_BYTES_MAX))).await;
            store(&gateway, &wallet, "b", json!("b".repeat(VALUE_BYTES_MAX))).await;
            assert_eq!(used(&gateway, &wallet).await, quota);
            // Without a treasury nobody can be paid, and without a payment service nobody can pay.
            let refused = put(&gateway, &wallet, "c", json!("c")).await;
            assert_eq!(refusal(&refused), (503, "disabled".to_owned()), "{}", refused.text());
            assert_eq!(get(&gateway, &wallet, "c").await.status, 404);
            // What needs no more room is free.
            store(&gateway, &wallet, "b", json!("B".repeat(VALUE_BYTES_MAX))).await;
            store(&gateway, &wallet, "c", json!("")).await;
            assert_eq!(delete(&gateway, &wallet, "a").await.status, 200);
            store(&gateway, &wallet, "c", json!("c".repeat(VALUE_BYTES_MAX))).await;
            assert_eq!(used(&gateway, &wallet).await, quota);
            finish(gateway).await;
        }
    }
}

//! Room above the quota is paid in the transaction of the write.

use super::{
    RECORD_BYTES, VALUE_BYTES_MAX, delete, finish, gateways_with, get, list, path_of, refusal, store,
    till::{self, coin},
};
use plugin_testing::{Builder, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const BLOCK_WEI: &str = "10000000000000000";
const TREASURY: &str = "0x0000000000000000000000000000000000001234";
const THIRTY_DAYS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Two values are free.
fn with_till(builder: Builder) -> Builder {
    let settings = json!({ "free_bytes": 2 * VALUE_BYTES_MAX, "treasury": TREASURY });
    builder.config("memory", settings).plugin(till::module())
}

async fn pay(gateway: &TestGateway, wallet: &Wallet, key: &str, value: &str, coin: &str) -> TestResponse {
    let body = wallet.signed_body("memory.put", gateway.now_s(), &json!({ "key": key, "value": value }));
    let headers = [("content-type", "application/json"), ("x-payment", coin)];
    gateway.send("PUT", &path_of(key), &headers, body.to_string()).await
}

fn full(letter: &str) -> String {
    letter.repeat(VALUE_BYTES_MAX)
}

async fn fill(gateway: &TestGateway, wallet: &Wallet) {
    store(gateway, wallet, "a", json!(full("a"))).await;
    store(gateway, wallet, "b", json!(full("b"))).await;
}

async fn paid(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT amount FROM till_payments ORDER BY nonce").await
}

fn quota(answer: &Value) -> (i64, i64, i64) {
    let number = |name: &str| answer[name].as_i64().unwrap();
    (number("usedBytes"), number("paidBytes"), number("quotaBytes"))
}

const BLOCK: i64 = 65_536;

#[tokio::test]
async fn a_payment_buys_the_started_blocks_for_thirty_days() {
    let wallet = Wallet::new(1);
    for gateway in gateways_with(with_till).await {
        fill(&gateway, &wallet).await;
        let required = super::put(&gateway, &wallet, "c", json!("c")).await;
        assert_eq!(required.status, 402, "{}", required.text());
        let terms = required.json();
        assert_eq!((&terms["amount"], &terms["payTo"]), (&json!(BLOCK_WEI), &json!(TREASURY)));
        // The key stays out of what the payment service gets.
        assert!(terms["resource"].as_str().unwrap().ends_with("/api/memory/{key}"), "{terms}");

        let bought = pay(&gateway, &wallet, "c", "c", &coin(1, BLOCK_WEI)).await;
        assert_eq!((bought.status, bought.header("payment-response").is_empty()), (201, false), "{}", bought.text());
        let bought = bought.json();
        assert_eq!(bought["paid"], json!({ "blocks": 1, "bytes": BLOCK }));
        assert_eq!(quota(&bought), (2 * BLOCK + 1, BLOCK, 3 * BLOCK));
        // The rest of the block is paid for.
        let free = store(&gateway, &wallet, "c", json!(full("c"))).await;
        assert!(free.get("paid").is_none(), "{free}");
        assert_eq!(quota(&free), (3 * BLOCK, BLOCK, 3 * BLOCK));
        assert_eq!(paid(&gateway).await.len(), 1);

        // Credits add up until each expires.
        gateway.clock().advance(THIRTY_DAYS / 2).await;
        let second = pay(&gateway, &wallet, "d", "d", &coin(2, BLOCK_WEI)).await;
        assert_eq!(quota(&second.json()), (3 * BLOCK + 1, 2 * BLOCK, 4 * BLOCK), "{}", second.text());
        gateway.clock().advance(THIRTY_DAYS / 2).await;
        let listed = list(&gateway, &wallet).await;
        assert_eq!(quota(&listed), (3 * BLOCK + 1, BLOCK, 3 * BLOCK), "nothing is deleted");
        // Whoever is above the quota pays for all of it with the next write.
        let required = super::put(&gateway, &wallet, "e", json!(full("e"))).await;
        assert_eq!((required.status, &required.json()["amount"]), (402, &json!("20000000000000000")));
        assert_eq!(delete(&gateway, &wallet, "a").await.status, 200);
        store(&gateway, &wallet, "d", json!(full("d"))).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_coin_pays_once_and_a_small_one_nothing() {
    let (one, two) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways_with(with_till).await {
        fill(&gateway, &one).await;
        fill(&gateway, &two).await;
        let small = pay(&gateway, &one, "c", "c", &coin(1, "1")).await;
        assert_eq!((small.status, &small.json()["error"]), (402, &json!("too small")), "{}", small.text());
        let bought = pay(&gateway, &one, "c", "c", &coin(1, BLOCK_WEI)).await;
        assert_eq!(bought.status, 201, "{}", bought.text());
        let again = pay(&gateway, &two, "c", "c", &coin(1, BLOCK_WEI)).await;
        assert_eq!((again.status, &again.json()["error"]), (402, &json!("the coin is spent")), "{}", again.text());
        assert_eq!(get(&gateway, &two, "c").await.status, 404);
        assert_eq!(list(&gateway, &two).await["paidBytes"], 0, "no credit without a payment");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn what_is_refused_costs_nothing() {
    let wallet = Wallet::new(1);
    let total = 2 * (BLOCK + RECORD_BYTES) + BLOCK;
    let limited = |builder: Builder| {
        let settings = json!({ "free_bytes": 2 * VALUE_BYTES_MAX, "treasury": TREASURY, "total_bytes": total });
        builder.config("memory", settings).plugin(till::module())
    };
    for gateway in gateways_with(limited).await {
        fill(&gateway, &wallet).await;
        for (key, value, status, code) in
            [("c", full("c"), 507, "store_full"), ("anchors", "c".to_owned(), 409, "reserved_key")]
        {
            // Not even asked for.
            let refused = super::put(&gateway, &wallet, key, json!(value)).await;
            assert_eq!(refusal(&refused), (status, code.to_owned()), "{}", refused.text());
            let refused = pay(&gateway, &wallet, key, &value, &coin(1, BLOCK_WEI)).await;
            assert_eq!(refusal(&refused), (status, code.to_owned()), "{}", refused.text());
        }
        // A signature that was used stores and pays nothing.
        let bought = pay(&gateway, &wallet, "c", "c", &coin(1, BLOCK_WEI)).await;
        assert_eq!(bought.status, 201, "{}", bought.text());
        let body = "x".repeat(VALUE_BYTES_MAX / 2);
        assert_eq!(delete(&gateway, &wallet, "c").await.status, 200);
        let again = pay(&gateway, &wallet, "c", "c", &coin(2, BLOCK_WEI)).await;
        assert_eq!(refusal(&again), (409, "replay".to_owned()), "{}", again.text());
        assert_eq!(paid(&gateway).await.len(), 1);
        assert!(
            pay(&gateway, &wallet, "c", &body, &coin(2, BLOCK_WEI)).await.is_success(),
            "the credit is still there"
        );
        assert_eq!(paid(&gateway).await.len(), 1);
        finish(gateway).await;
    }
}

/// The record cannot be appended after the payment was taken: then nothing was.
#[tokio::test]
async fn a_write_that_fails_takes_no_payment() {
    let wallet = Wallet::new(1);
    for gateway in gateways_with(with_till).await {
        fill(&gateway, &wallet).await;
        gateway.execute("ALTER TABLE memory_records RENAME TO memory_records_away").await;
        let failed = pay(&gateway, &wallet, "c", "c", &coin(1, BLOCK_WEI)).await;
        assert_eq!(failed.status, 500, "{}", failed.text());
        gateway.execute("ALTER TABLE memory_records_away RENAME TO memory_records").await;
        assert!(paid(&gateway).await.is_empty());
        assert!(gateway.rows("SELECT bytes FROM memory_credits").await.is_empty());
        assert_eq!(get(&gateway, &wallet, "c").await.status, 404);
        // Signature and coin are still good.
        let bought = pay(&gateway, &wallet, "c", "c", &coin(1, BLOCK_WEI)).await;
        assert_eq!((bought.status, &bought.json()["record"]["seq"]), (201, &json!(3)), "{}", bought.text());
        gateway.stop().await;
    }
}

//! Transactions that stay open, and statements that reach for what is not the plugin's.

use super::{assert_fault, assert_internal, assert_others_serve, call, gateway, post, report};
use plugin_testing::{Wallet, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_handler_that_breaks_off_gives_its_transaction_back_at_once() {
    let gateway = gateway(json!({})).await;
    for (number, (operation, status)) in (1..).zip([("write_then_hang", 503), ("write_then_panic", 500)]) {
        assert_eq!(post(&gateway, operation).await.status, status);
        let begun = Instant::now();
        assert_eq!(post(&gateway, "write").await.status, 200);
        assert!(begun.elapsed() < Duration::from_millis(500), "the next write waited for {:?}", begun.elapsed());
        assert_eq!(call(&gateway, "rows").await.json(), number);
        assert_others_serve(&gateway, number).await;
    }
    gateway.stop().await;
}

/// It holds the writer until the limit of a transaction, and no longer.
#[tokio::test]
async fn a_transaction_that_nobody_ends_is_ended() {
    let gateway = super::gateway_with(json!({}), |config| {
        config.database.transaction_timeout_ms = 500;
        config.database.statement_timeout_ms = 500;
    })
    .await;
    assert_eq!(post(&gateway, "write_then_leak").await.status, 200);
    let signed =
        gateway.post_signed("/api/hello/guests", &Wallet::new(1), "hello.sign", json!({ "message": "hi" })).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    assert_eq!(call(&gateway, "rows").await.json(), 0);
    assert_others_serve(&gateway, 2).await;
    gateway.stop().await;
}

#[tokio::test]
async fn no_statement_leaves_the_plugins_own_tables() {
    let gateway = gateway(json!({})).await;
    assert_others_serve(&gateway, 1).await;
    for (number, statement) in hostile::WRITES.iter().enumerate() {
        let answer = post(&gateway, &format!("sql/{number}")).await;
        assert_eq!(answer.status, 500, "{statement}: {}", answer.text());
        assert_fault(&gateway, "error in run_statement: ", "").await;
        assert_eq!(report(&gateway, "hostile").await.faults, number as u64 + 1, "{statement}");
    }
    let guests = gateway.get("/api/hello/guests").await.json();
    assert_eq!((&guests["total"], &guests["items"][0]["message"]), (&json!(1), &json!("from 1")));
    assert_eq!(call(&gateway, "rows").await.json(), 0);
    assert_internal(&post(&gateway, "sql/99").await);
    assert_others_serve(&gateway, 2).await;
    gateway.stop().await;
}

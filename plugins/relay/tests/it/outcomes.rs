//! What becomes of calls and accounts, and of their shares of the caps.

use crate::{DEPTH, Draft, account, counted, each, eventually, post, relay, relayed};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

async fn states(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT state FROM relay_calls ORDER BY id").await
}

/// Everything that is counted.
async fn all_counted(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT name, used FROM relay_counters WHERE used > 0 ORDER BY name").await
}

#[tokio::test]
async fn one_that_never_was_in_a_block_gives_its_share_back() {
    each(json!({ "account_per_day": 1 }), async |chain, gateway| {
        gateway.set_client_ip("2001:db8::1".parse().unwrap());
        // Every server refuses the transaction for good, so an empty transfer takes its nonce.
        let to = account(1);
        chain.refuse_transactions("intrinsic gas too low", move |tx| tx.to == to);
        let draft = Draft::new(&gateway, 1, 0);
        relayed(&gateway, &draft).await;
        assert_eq!(all_counted(&gateway).await.len(), 4, "account, client, site and network");
        eventually(&gateway, "it is cancelled", async || chain.waiting().iter().any(|tx| tx.to != to)).await;
        chain.accept_transactions();
        eventually(&gateway, "it is given back", async || {
            chain.mine_empty(1);
            all_counted(&gateway).await.is_empty()
        })
        .await;
        assert_eq!(states(&gateway).await, ["Text(\"returned\")"]);
        // The same call can be sent again, by another intent.
        relayed(&gateway, &draft).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn one_that_reverted_in_a_block_does_not() {
    each(json!({}), async |chain, gateway| {
        chain.fail_calls(account(1));
        let draft = Draft::new(&gateway, 1, 0);
        let answer = relayed(&gateway, &draft).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(DEPTH + 2);
        eventually(&gateway, "it ends", async || states(&gateway).await == ["Text(\"reverted\")"]).await;
        assert_eq!(counted(&gateway, "call_day").await, ["Int(1)"]);
        assert_eq!(relayed(&gateway, &draft).await, answer, "within two minutes it is the same");
        gateway.clock().advance(Duration::from_secs(130)).await;
        let again: Value = relay(&gateway, &draft).await.json();
        assert_ne!(again["tx"], answer["tx"], "{again}");
        assert_eq!(again["remainingToday"], 18);
        gateway
    })
    .await;
}

#[tokio::test]
async fn an_account_that_was_never_created_gives_its_share_back() {
    each(json!({}), async |chain, gateway| {
        let factory = ScriptedChain::address_of("accountFactory");
        chain.refuse_transactions("intrinsic gas too low", move |tx| tx.to == factory);
        let body = json!({ "owner": Wallet::new(1).address() });
        assert_eq!(post(&gateway, "/api/accounts/create", &body).await.status, 202);
        eventually(&gateway, "it is cancelled", async || chain.waiting().iter().any(|tx| tx.to != factory)).await;
        chain.accept_transactions();
        eventually(&gateway, "it is given back", async || {
            chain.mine_empty(1);
            all_counted(&gateway).await.is_empty()
        })
        .await;
        assert_eq!(post(&gateway, "/api/accounts/create", &body).await.status, 202);
        gateway
    })
    .await;
}

#[tokio::test]
async fn hashes_of_clients_are_deleted_after_48_hours() {
    each(json!({}), async |_, gateway| {
        gateway.set_client_ip("2001:db8::1".parse().unwrap());
        relayed(&gateway, &Draft::new(&gateway, 1, 0)).await;
        let rows = gateway.rows("SELECT client, site FROM relay_calls").await.concat();
        assert!(!rows.contains("2001") && !rows.contains("Null"), "{rows}");
        for _ in 0..49 {
            gateway.clock().advance(HOUR).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        eventually(&gateway, "they are gone", async || {
            gateway.rows("SELECT client, site FROM relay_calls").await == ["Null Null"]
                && gateway.rows("SELECT name FROM relay_counters").await == ["Text(\"call_day\")"]
        })
        .await;
        gateway
    })
    .await;
}

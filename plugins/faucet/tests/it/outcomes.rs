//! What becomes of drips, and of their shares of the caps.

use crate::{DEPTH, RELAYER, address, assert_refused, drip, each, each_built, eventually, post, states, used};
use plugin_testing::{Builder, Wallet, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn one_that_never_was_in_a_block_gives_its_share_back() {
    each(json!({ "ip_per_day": 1 }), async |chain, gateway| {
        let to = address(1).parse().unwrap();
        chain.refuse_calls(to, true);
        let failed = post(&gateway, &json!({ "address": address(1) })).await;
        assert_refused(&failed, 503, "unavailable");
        assert!(failed.json()["error"].as_str().unwrap().contains("not sent"), "{}", failed.text());
        eventually(&gateway, "it is given back", async || used(&gateway).await == 0).await;
        assert_eq!(states(&gateway).await, ["Text(\"returned\")"]);
        chain.refuse_calls(to, false);
        drip(&gateway, 1).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn one_that_is_not_signed_in_time_is_joined_by_a_repetition() {
    let one_at_a_time = |builder: Builder| builder.configure(|config| config.tx.in_flight_max = 1);
    each_built(json!({}), one_at_a_time, async |chain, gateway| {
        chain.hold(true);
        drip(&gateway, 1).await;
        let second = json!({ "address": address(2) });
        let late = post(&gateway, &second).await;
        assert_refused(&late, 503, "unavailable");
        assert_eq!(late.headers["retry-after"], "5");
        assert_eq!(used(&gateway).await, 2);
        chain.hold(false);
        eventually(&gateway, "the first is mined", async || {
            chain.mine_empty(1);
            chain.mined().len() == 2 || chain.waiting().iter().any(|tx| tx.to.to_string() == address(2))
        })
        .await;
        // The second one is signed now, so its hash is in the refusal; one that still waits is joined.
        let again = post(&gateway, &second).await;
        assert!([202, 429].contains(&again.status), "{}", again.text());
        let told = again.json();
        assert!(told["txHash"].is_string(), "{told}");
        assert_eq!(used(&gateway).await, 2, "it is one drip");
        gateway
    })
    .await;
}

#[tokio::test]
async fn one_that_reverted_in_a_block_does_not() {
    each(json!({}), async |chain, gateway| {
        chain.fail_calls(address(1).parse().unwrap());
        drip(&gateway, 1).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(DEPTH + 2);
        eventually(&gateway, "it ends", async || states(&gateway).await == ["Text(\"reverted\")"]).await;
        assert_eq!(used(&gateway).await, 1);
        assert_refused(&post(&gateway, &json!({ "address": address(1) })).await, 429, "faucet_cooldown");
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_reserve_counts_what_is_recorded_and_not_mined() {
    each(json!({}), async |chain, gateway| {
        // For two drips, and what their transactions may cost.
        chain.set_balance(Wallet::new(RELAYER).address().parse().unwrap(), "51010000000000000000");
        drip(&gateway, 1).await;
        drip(&gateway, 2).await;
        // The balance is the same still.
        assert_refused(&post(&gateway, &json!({ "address": address(3) })).await, 503, "faucet_reserve");
        eventually(&gateway, "they are sent", async || chain.waiting().len() == 2).await;
        chain.mine_empty(DEPTH + 2);
        let ended = async || states(&gateway).await.iter().all(|state| state == "Text(\"done\")");
        eventually(&gateway, "they end", ended).await;
        drip(&gateway, 3).await;
        gateway
    })
    .await;
}

/// The server that tells the balance may be behind the one that told of the block.
#[tokio::test]
async fn the_reserve_counts_gas_and_for_a_minute_what_is_mined() {
    each(json!({}), async |chain, gateway| {
        let set_balance = |wei: &str| chain.set_balance(Wallet::new(RELAYER).address().parse().unwrap(), wei);
        let refused = async || {
            assert_refused(&post(&gateway, &json!({ "address": address(9) })).await, 503, "faucet_reserve");
        };
        set_balance("50500000000000000000");
        drip(&gateway, 1).await;
        eventually(&gateway, "it is sent", async || chain.waiting().len() == 1).await;
        // For two drips, without the gas of the first one's transaction.
        set_balance("51001999999999999999");
        refused().await;
        set_balance("51002000000000000000");
        drip(&gateway, 2).await;
        eventually(&gateway, "both are sent", async || chain.waiting().len() == 2).await;
        assert_eq!(gateway.rows("SELECT count(DISTINCT intent) FROM faucet_drips").await, ["Int(2)"]);
        chain.mine_empty(1);
        let mined = async || {
            gateway.rows("SELECT count(*) FROM faucet_drips WHERE state = 'open' AND mined_at IS NOT NULL").await
                == ["Int(2)"]
        };
        eventually(&gateway, "it is noted that they are in a block", mined).await;
        // For one drip with all gas, but not for three.
        set_balance("50520000000000000000");
        refused().await;
        gateway.clock().advance(Duration::from_secs(61)).await;
        drip(&gateway, 3).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn hashes_of_clients_are_deleted_after_48_hours() {
    each(json!({}), async |_, gateway| {
        gateway.set_client_ip("2001:db8::1".parse().unwrap());
        drip(&gateway, 1).await;
        let rows = gateway.rows("SELECT client, site FROM faucet_drips").await.concat();
        let counters = gateway.rows("SELECT key FROM faucet_counters").await.concat();
        assert!(!rows.contains("2001") && !counters.contains("2001") && !rows.contains("Null"), "{rows} {counters}");
        for _ in 0..49 {
            gateway.clock().advance(HOUR).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        eventually(&gateway, "they are gone", async || {
            gateway.rows("SELECT client, site FROM faucet_drips").await == ["Null Null"]
                && gateway.rows("SELECT name FROM faucet_counters").await == ["Text(\"day\")"]
        })
        .await;
        gateway
    })
    .await;
}

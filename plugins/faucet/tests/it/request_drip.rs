//! `POST /api/faucet`: the good way, and each refusal in its order.

use crate::{DEPTH, DRIP, RELAYER, address, assert_refused, drip, each, each_built, eventually, faucet, post, used};
use plugin_api::Hash256;
use plugin_testing::{Builder, ScriptedChain, TestGateway, Wallet, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

fn relayer() -> plugin_api::Address {
    Wallet::new(RELAYER).address().parse().unwrap()
}

#[tokio::test]
async fn a_fresh_address_gets_its_coins() {
    each(json!({}), async |chain, gateway| {
        let answer = drip(&gateway, 1).await;
        assert_eq!((&answer["address"], &answer["amountFmx"]), (&json!(address(1)), &json!("0.5")));
        assert_eq!(answer["txHash"], answer["tx"]);
        assert!(answer["next"].as_str().unwrap().contains(answer["tx"].as_str().unwrap()), "{answer}");
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        let sent = chain.waiting();
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].to.to_string(), sent[0].value.to_string()), (address(1), DRIP.to_owned()));
        assert_eq!(Hash256(sent[0].hash).to_string(), answer["tx"].as_str().unwrap());
        let again = post(&gateway, &json!({ "address": address(1).to_lowercase() })).await;
        assert_refused(&again, 429, "faucet_cooldown");
        assert_eq!(again.json()["txHash"], answer["tx"], "the caller learns of it");
        assert_eq!(used(&gateway).await, 1);
        gateway
    })
    .await;
}

#[tokio::test]
async fn an_address_gets_one_in_24_hours() {
    each(json!({}), async |chain, gateway| {
        drip(&gateway, 1).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(DEPTH + 1);
        eventually(&gateway, "it ends", async || crate::states(&gateway).await == ["Text(\"done\")"]).await;
        gateway.clock().advance(DAY - Duration::from_secs(300)).await;
        let again = post(&gateway, &json!({ "address": address(1) })).await;
        assert_refused(&again, 429, "faucet_cooldown");
        let retry_after: u64 = again.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=300).contains(&retry_after), "{retry_after}");
        gateway.clock().advance(Duration::from_secs(retry_after + 1)).await;
        drip(&gateway, 1).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn refusals_come_in_order_and_count_nothing() {
    let config = json!({ "ip_per_day": 1, "per_day": 8, "pow_bits": 8, "pow_follows_use": false });
    each(config, async |chain, gateway| {
        let fresh = json!({ "address": address(9) });
        assert_refused(&post(&gateway, &json!({ "address": "0x12" })).await, 400, "bad_address");
        assert_refused(&post(&gateway, &json!({})).await, 400, "bad_address");
        let zero = json!({ "address": format!("0x{}", "0".repeat(40)) });
        assert_refused(&post(&gateway, &zero).await, 400, "bad_address");
        assert_refused(&post(&gateway, &fresh).await, 400, "faucet_pow");
        // The puzzle comes before the reserve.
        chain.set_balance(relayer(), "50499999999999999999");
        assert_refused(&post(&gateway, &fresh).await, 400, "faucet_pow");
        let mut body = solved(9, 8);
        assert_refused(&post(&gateway, &body).await, 503, "faucet_reserve");
        chain.set_balance(relayer(), "1000000000000000000000");
        // Balance, then nonce.
        let wallet: plugin_api::Address = address(9).parse().unwrap();
        chain.set_balance(wallet, DRIP);
        chain.send_foreign(wallet, 0);
        chain.mine_empty(1);
        assert_refused(&post(&gateway, &body).await, 400, "faucet_not_needed");
        chain.set_balance(wallet, "499999999999999999");
        assert_refused(&post(&gateway, &body).await, 400, "faucet_used_key");
        assert_eq!(used(&gateway).await, 0);
        assert_eq!(gateway.rows("SELECT count(*) FROM faucet_counters").await, ["Int(0)"]);
        // What comes before the puzzle: the address's drip, the client's, all.
        let first = solved(1, 8);
        assert_eq!(post(&gateway, &first).await.status, 202);
        assert_refused(&post(&gateway, &first).await, 429, "faucet_cooldown");
        body["pow"] = "wrong".into();
        assert_refused(&post(&gateway, &body).await, 429, "faucet_ip_limit");
        gateway.set_client_ip("192.0.2.1".parse().unwrap());
        assert_eq!(post(&gateway, &solved(2, 8)).await.status, 202);
        gateway.set_client_ip("192.0.2.2".parse().unwrap());
        let full = post(&gateway, &body).await;
        assert_refused(&full, 503, "faucet_daily_cap");
        assert_eq!(used(&gateway).await, 2, "a quarter");
        // The next one is free when it says.
        let retry_after: u64 = full.headers["retry-after"].to_str().unwrap().parse().unwrap();
        gateway.clock().advance(Duration::from_secs(retry_after)).await;
        assert_refused(&post(&gateway, &body).await, 400, "faucet_pow");
        gateway
    })
    .await;
}

/// With the answer to the puzzle.
fn solved(number: u64, bits: u32) -> plugin_testing::Value {
    let address = address(number);
    let is_solved = |pow: &String| {
        let hash = Hash256::keccak(format!("{}:{pow}", address.to_lowercase()).as_bytes()).0;
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]).leading_zeros() >= bits
    };
    let pow = (0u32..).map(|number| number.to_string()).find(is_solved).unwrap();
    json!({ "address": address, "pow": pow })
}

#[tokio::test]
async fn the_puzzle_becomes_harder_with_use() {
    each(json!({ "per_day": 16, "ip_per_day": 100 }), async |_, gateway| {
        assert_eq!(faucet(&gateway).await["pow"], json!(null));
        drip(&gateway, 1).await;
        drip(&gateway, 2).await;
        let pow = faucet(&gateway).await["pow"].clone();
        assert_eq!(pow["bits"], 16, "{pow}");
        let refused = post(&gateway, &json!({ "address": address(3) })).await;
        assert_refused(&refused, 400, "faucet_pow");
        assert_eq!(refused.json()["bits"], 16);
        assert_eq!(post(&gateway, &solved(3, 16)).await.status, 202);
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_a_key_or_a_chain_it_is_off() {
    let without_key = |builder: Builder| builder.configure(|config| config.signers.clear());
    each_built(json!({}), without_key, async |_, gateway| {
        let off = post(&gateway, &json!({ "address": "0x12" })).await;
        assert_refused(&off, 503, "disabled");
        let body = off.json();
        assert_eq!(body["disabled"], true);
        assert!(body["reason"].as_str().unwrap().contains("relayer"), "{body}");
        gateway
    })
    .await;
    let without_chain = |builder: Builder| builder.configure(|config| config.chains.clear());
    each_built(json!({}), without_chain, async |_, gateway| {
        assert_refused(&post(&gateway, &json!({ "address": address(1) })).await, 503, "disabled");
        gateway
    })
    .await;
}

#[tokio::test]
async fn ipv6_counts_by_64_and_by_48() {
    each(json!({ "ip_per_day": 2, "pow_follows_use": false }), async |_, gateway| {
        let mut number = 0;
        let mut ask = async |ip: &str| {
            gateway.set_client_ip(ip.parse().unwrap());
            number += 1;
            post(&gateway, &json!({ "address": address(number) })).await
        };
        for ip in ["2001:db8:1:1::1", "2001:db8:1:1:ffff::2"] {
            assert_eq!(ask(ip).await.status, 202, "{ip}");
        }
        assert_refused(&ask("2001:db8:1:1::3").await, 429, "faucet_ip_limit");
        for network in 2..5 {
            for host in 1..=2 {
                assert_eq!(ask(&format!("2001:db8:1:{network}::{host}")).await.status, 202);
            }
        }
        assert_refused(&ask("2001:db8:1:5::1").await, 429, "faucet_ip_limit");
        assert_eq!(ask("2001:db8:2:1::1").await.status, 202);
        assert_eq!(used(&gateway).await, 9);
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_chain_s_silence_counts_nothing() {
    each(json!({}), async |chain: &ScriptedChain, gateway: TestGateway| {
        chain.fail_always(Some(plugin_testing::Fault::Status(502)));
        let refused = post(&gateway, &json!({ "address": address(1) })).await;
        assert_refused(&refused, 503, "unavailable");
        chain.fail_always(None);
        assert_eq!(used(&gateway).await, 0);
        gateway
    })
    .await;
}

//! Contributions: stats, status, manifest and card.

use crate::{FACILITATOR, VAULT, draft::Draft, each, read, settle, settled};
use plugin_testing::{ScriptedChain, Wallet, json};

#[tokio::test]
async fn stats_count_settlements_and_what_is_pending() {
    each(json!({}), async |chain, gateway| {
        let drafts: Vec<Draft> = (1..=2).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        settle(gateway, &drafts[0]).await;
        chain.mine(vec![settled(&drafts[1], [7; 32])]);
        gateway.indexed(chain).await;
        let stats = read(gateway, "/api/stats").await;
        let counted = ["x402VolumeWei", "x402Settlements", "x402Pending"].map(|name| stats[name].clone());
        assert_eq!(counted, [json!(drafts[1].amount.to_string()), json!(1), json!(1)]);
    })
    .await;
}

#[tokio::test]
async fn the_status_is_that_of_the_facilitator() {
    each(json!({}), async |chain, gateway| {
        settle(gateway, &Draft::new(gateway, 1, 1)).await;
        let status = async || gateway.collect("status", &json!({})).await["x402"]["facilitator"].clone();
        let expected = json!({
            "ok": true, "enabled": true, "address": Wallet::new(FACILITATOR).address(), "balanceFmx": "1.0", "lowFunds": false,
            "queued": 1, "submitted": 0, "oldestQueuedAgeS": 0, "oldestSubmittedAgeS": null, "batchMs": 30000,
            "vault": ScriptedChain::address_of(VAULT),
        });
        assert_eq!(status().await, expected);
        gateway.execute("UPDATE x402_vouchers SET queued_at = queued_at - 601").await;
        let late = status().await;
        assert_eq!((&late["ok"], &late["oldestQueuedAgeS"]), (&json!(false), &json!(601)), "{late}");
        assert!(chain.waiting().is_empty());
    })
    .await;
}

#[tokio::test]
async fn manifest_and_card_say_how_to_pay() {
    each(json!({}), async |_, gateway| {
        let manifest = read(gateway, "/.well-known/service.json").await;
        let base_url = &gateway.gateway().environment.base_url;
        assert_eq!(manifest["x402"]["scheme"], "service-voucher");
        assert_eq!(manifest["x402"]["network"], "service:3961");
        assert_eq!(manifest["x402"]["verify"], json!(format!("{base_url}/api/x402/verify")));
        assert_eq!(manifest["x402"]["domain"]["verifyingContract"], json!(ScriptedChain::address_of(VAULT)));
        let card = read(gateway, "/.well-known/agent.json").await;
        assert!(card["authentication"]["schemes"].as_array().unwrap().contains(&json!("x402-service")), "{card}");
    })
    .await;
}

#[tokio::test]
async fn health_names_the_facilitator_and_what_waits() {
    each(json!({}), async |chain, gateway| {
        settle(gateway, &Draft::new(gateway, 1, 1)).await;
        let expected = json!({
            "facilitator": Wallet::new(FACILITATOR).address(), "facilitatorBalance": "1000000000000000000",
            "facilitatorLowFunds": false, "x402Queued": 1,
        });
        let health = read(gateway, "/api/health").await;
        for (member, value) in expected.as_object().unwrap() {
            assert_eq!(&health["v3"][member], value, "{member}: {health}");
        }
        assert!(chain.waiting().is_empty());
    })
    .await;
}

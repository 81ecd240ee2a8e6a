//! The USD of open quotes are bounded: of all, and of each client's network.

use crate::{assert_refused, buyer, create_quote::refusal, each, selling};
use plugin_testing::{Wallet, json};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_value_of_open_quotes_is_bounded() {
    let mut config = selling();
    config["open_usd_max"] = json!(25);
    config["dust"] = json!("always");
    let usdc = Wallet::new(70).address().parse().unwrap();
    config["chains"]["dev"]["tokens"]["USDC"] = json!({ "address": usdc, "decimals": 6 });
    each(config, async |site| {
        // A contract that tells no decimals is no token to trust.
        site.until("it is paused", async || site.service().await["pausedAssets"] == json!(["dev USDC"])).await;
        crate::set_decimals(&site.dev, usdc, 6);
        // Whoever asks before the next scan finds that it is right, which does not hide it from that scan.
        let body = json!({ "chain": "dev", "usdc": 10, "target": buyer().address() });
        assert_refused(&site.ask(body.clone()).await, 503, "chain_unavailable");
        site.until("it goes on", async || site.service().await["pausedAssets"] == json!([])).await;
        let first = site.ask(body.clone()).await;
        assert_eq!(first.status, 201, "{}", first.text());
        let first = first.json();
        assert_eq!(
            (&first["asset"], &first["usdc"], &first["usdcDecimals"]),
            (&json!("USDC"), &json!("10.000001"), &json!(6))
        );
        assert_eq!(first["usdcToken"], Wallet::new(70).address());
        assert_eq!(site.ask(body.clone()).await.status, 201);
        assert_refused(&site.ask(body.clone()).await, 503, "open_usd_full");

        // One network has its part of it.
        let site = site.restart_with(|config| config["open_usd_per_network"] = json!(20)).await;
        site.after_run("scan").await;
        let refused = site.ask(body).await;
        assert_refused(&refused, 429, "too_many_open");
        assert!(refused.text().contains("no more USD for your network"), "{}", refused.text());
        site
    })
    .await;
}

/// Quotes cost nothing: neither those that their payer has replaced nor those of a chain that cannot be scanned take USD from others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_quotes_that_may_still_be_paid_count_in_usd() {
    let mut config = selling();
    config["open_usd_max"] = json!(45);
    each(config, async |site| {
        let meant = json!({ "from": Wallet::new(30).address(), "amount": "20" });
        for _ in 0..3 {
            assert_eq!(refusal(&site, meant.clone()).await.0, 201, "the payer's earlier one counts no more");
        }
        assert_eq!(refusal(&site, json!({ "amount": "20" })).await.0, 201);
        assert_eq!(refusal(&site, json!({ "amount": "20" })).await, (503, json!("open_usd_full")));
        // No block comes, so that none of them has expired by the blocks of the chain.
        site.gateway.clock().advance(Duration::from_secs(900 + 600)).await;
        site.after_run("scan").await;
        let open = "SELECT count(*) FROM payin_quotes WHERE status IN ('quoted', 'superseded')";
        assert_eq!(site.gateway.rows(open).await, ["Int(4)"]);
        site.until("another is taken", async || refusal(&site, json!({ "amount": "40" })).await.0 == 201).await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotes_may_be_as_large_as_their_bounds() {
    let mut config = selling();
    for cap in ["payout_max_wei", "hour_max_wei", "day_max_wei"] {
        config[cap] = json!("196000000000000000000000");
    }
    for bound in ["open_usd_max", "open_usd_per_network"] {
        let mut config = config.clone();
        config[bound] = json!(10_000);
        each(config, async |site| {
            assert_eq!(site.quote("10000").await["fmxOut"], "196000000000000000000000");
            let (status, _) = refusal(&site, json!({ "amount": "1" })).await;
            assert!([429, 503].contains(&status), "{bound}: {status}");
            site.gateway.execute("UPDATE payin_quotes SET status = 'expired', open_key = NULL").await;
            assert_eq!(site.quote("1").await["fmxOut"], "19600000000000000000");
            site
        })
        .await;
    }
}

/// Whoever asks for a recipient from many networks takes amounts that others want.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_quotes_for_a_recipient_are_bounded_over_all_networks() {
    let mut config = selling();
    config["open_per_recipient"] = json!(1);
    each(config, async |site| {
        let ask = async |network: u8, to: u64| {
            site.gateway.set_client_ip(format!("203.0.113.{network}").parse().unwrap());
            let to = Wallet::new(to);
            let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": to.address() });
            site.ask(body).await
        };
        for network in 1..=20 {
            assert_eq!(ask(network, 12).await.status, 201, "{network}");
        }
        assert_refused(&ask(21, 12).await, 429, "too_many_open");
        assert_eq!(ask(21, 13).await.status, 201, "another recipient");
        site
    })
    .await;
}

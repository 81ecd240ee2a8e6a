//! `GET /api/payin/{quoteId}`: from the quote to the coins, over restarts, with everything that is shown on the way.

use crate::{CONFIRMATIONS, Site, buyer, deposit_address, each, selling};
use plugin_testing::{ScriptedChain, json};

const COINS: &str = "196000000000000000000";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_usd_buy_coins_once() {
    each(selling(), async |site| {
        let token = ScriptedChain::address_of("usdx");
        let quote = site.quote("10").await;
        let expected = json!({
            "quoteId": quote["quoteId"], "chain": "dev", "chainId": 31337, "chainName": "Dev", "asset": "USDX",
            "assetKind": "erc20", "token": token, "decimals": 6, "amount": "10.0", "amountRequested": "10.0",
            "dustUnits": "0", "dustDirection": "none", "sendExactly": "10000000", "sendExactlyFormatted": "10.0",
            "usd": "10.0", "assetUsd": "1.0", "depositAddress": deposit_address(), "fmxOut": COINS,
            "fmxOutFormatted": "196.0", "priceUsdPerFmx": "0.05", "spreadBps": 200, "to": buyer().address(), "from": null,
            "expiresAt": site.gateway.now_s() + 900, "expires": 900, "confirmations": 3, "status": "quoted",
            "explorer": "https://explorer.example", "note": quote["note"],
        });
        assert_eq!(quote, expected);
        let id = quote["quoteId"].as_str().unwrap();
        assert!(id.len() == 18 && id.starts_with("q_"), "{id}");

        let deposit = site.deposit(&quote);
        let seen = site.becomes(&quote, "seen").await;
        assert_eq!(seen["txHashIn"], json!(deposit.tx.to_string()));
        assert_eq!(seen["txHashes"]["deposit"]["url"], format!("https://explorer.example/tx/{}", deposit.tx));
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty(), "too few confirmations");

        // A kill between all steps.
        let site = site.restart().await;
        let sent = site.pays(&quote).await;
        assert_eq!((sent.value.to_string().as_str(), sent.to.to_string().as_str()), (COINS, buyer().address()));
        let site = site.restart().await;
        let paid = site.paid(&quote).await;
        let site = site.restart().await;
        for job in ["scan", "pay", "follow"] {
            site.after_run(job).await;
        }
        site.main.mine_empty(2);
        assert_eq!(site.coins_of(&buyer()), [COINS]);
        check_paid(&site, &paid).await;
        site
    })
    .await;
}

async fn check_paid(site: &Site, paid: &plugin_testing::Value) {
    let hash = plugin_api::Hash256(site.main.mined()[0].hash);
    assert_eq!((&paid["txHashOut"], &paid["payoutNonce"]), (&json!(hash), &json!(0)));
    assert_eq!(paid["txHashes"]["fmx"]["chainId"], 3961);
    assert!(paid["confirmations"].as_u64().unwrap() >= CONFIRMATIONS && paid["paidAt"].is_i64(), "{paid}");
    assert_eq!((&paid["usdc"], &paid["usdcUnits"], &paid["error"]), (&json!("10.0"), &json!("10000000"), &json!(null)));
    let history = paid["history"].as_array().unwrap();
    let steps: Vec<_> = history.iter().map(|step| step["status"].as_str().unwrap()).collect();
    assert_eq!(steps, ["quoted", "seen", "confirmed", "paid"]);

    let events = site.gateway.events().await;
    let events: Vec<_> =
        events.into_iter().filter(|event| event.kind == "payin.paid").map(|event| event.data).collect();
    let expected = json!({
        "quoteId": paid["quoteId"], "chain": "dev", "asset": "USDX", "amount": "10.0", "usd": "10.0", "usdc": "10.0",
        "fmxOut": COINS, "to": buyer().address(), "tx": hash,
    });
    assert_eq!(events, [expected]);
    let input = json!({ "agentId": 1, "owner": buyer().address(), "limit": 10 });
    let lines = site.gateway.collect("audit", &input).await["payin"]["lines"].clone();
    assert_eq!(lines[0]["members"]["type"], "payin.paid", "{lines}");
    assert_eq!(site.gateway.collect("health", &json!({})).await["payin"], json!({ "payin": true }));
    let stats = site.gateway.get("/api/stats").await.json();
    assert_eq!(stats["payinsPaid"], 1, "{stats}");
    let service = site.service().await;
    assert_eq!(
        (&service["ok"], &service["paid"], &service["openQuotes"]),
        (&json!(true), &json!(1), &json!(0)),
        "{service}"
    );
    assert_eq!(service["chains"]["dev"]["consecutiveFailures"], 0);
}

//! Two gateways on one PostgreSQL: each quote has its own amount and is paid once.

use crate::{CONFIRMATIONS, Chains, DEPTH, deposit_address, selling, transfer};
use futures_util::future::join_all;
use plugin_testing::{ScriptedLog, TestGateway, Wallet, json};
use std::{collections::BTreeSet, time::Duration};

const QUOTES: u64 = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_pay_each_quote_once() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let mut config = selling();
    config["day_max_wei"] = json!("10000000000000000000000");
    config["hour_max_wei"] = json!("10000000000000000000000");
    let site = Chains::start().await.site(builder, &config).await;
    let url = site.gateway.gateway().config.database.url.clone();
    let chains = Chains { main: site.main.clone(), dev: site.dev.clone(), second: site.second.clone() };
    let other = chains.prepared(TestGateway::builder(), &config).configure(|config| config.database.url = url);
    let other = other.start().await;
    let wallets: Vec<Wallet> = (100..100 + QUOTES).map(Wallet::new).collect();
    let asks = wallets.iter().zip(0..).map(|(wallet, number)| {
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": wallet.address() });
        let (gateway, headers) =
            (if number % 2 == 0 { &site.gateway } else { &other }, [("content-type", "application/json")]);
        async move { gateway.send("POST", "/api/payin/quote", &headers, body.to_string()).await }
    });
    let mut quotes = Vec::new();
    for response in join_all(asks).await {
        // Some may be told to come again, which takes no amount.
        assert!(matches!(response.status, 201 | 503), "{}", response.text());
        quotes.extend((response.status == 201).then(|| response.json()));
    }
    let amounts: BTreeSet<String> = quotes.iter().map(|quote| quote["sendExactly"].to_string()).collect();
    assert!(amounts.len() == quotes.len() && !quotes.is_empty(), "{amounts:?}");
    let logs: Vec<ScriptedLog> = quotes
        .iter()
        .map(|quote| transfer(&Wallet::new(30), deposit_address(), quote["sendExactly"].as_str().unwrap()))
        .collect();
    site.dev.mine(logs);
    site.dev.mine_empty(CONFIRMATIONS);
    let paid = async || {
        other.clock().advance(Duration::from_secs(5)).await;
        site.main.mine_empty(1);
        site.service().await["paid"] == json!(quotes.len())
    };
    site.until("all are paid", paid).await;
    site.main.mine_empty(2 + DEPTH);
    for quote in &quotes {
        let wallet = wallets.iter().find(|wallet| quote["to"] == wallet.address()).unwrap();
        assert_eq!(site.coins_of(wallet), [quote["fmxOut"].as_str().unwrap()]);
    }
    assert_eq!(site.main.mined().len(), quotes.len());
    assert_eq!(other.faults().await, Vec::<String>::new());
    other.stop().await;
    site.close().await;
}

//! `GET /api/payin/market`

use crate::{Chains, Site, assert_refused, each, selling};
use plugin_testing::{Fault, ScriptedChain, TestGateway, Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

const PATH: &str = "/api/payin/market";
const RESERVES: &str = "getReserves() returns (uint112,uint112,uint32)";
const COIN: u128 = 1_000_000_000_000_000_000;

/// A server whose every response is this text, with status 200.
async fn bridge() -> (String, Arc<Mutex<String>>) {
    let body = Arc::new(Mutex::new(String::new()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/status", listener.local_addr().unwrap());
    let served = body.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let body = served.lock().unwrap().clone();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    (url, body)
}

fn trading(bridge: &str) -> Value {
    let at = ScriptedChain::address_of;
    let quote = |symbol: &str, usd: &str| json!({ "symbol": symbol, "token": at(symbol), "decimals": 6, "usd": usd });
    let mut config = selling();
    config["market"] = json!({
        "factory": at("factory"), "wrapped": at("wrapped"),
        "quotes": [quote("USDF", "1"), quote("AZNT", "0.588235294117647058")],
        "dex_url": "https://dex.example", "pool_url": "https://dex.example/pool/{pair}", "swap_url": "https://dex.example/swap",
        "secondary": {
            "chain": "dev", "pair": at("far pair"), "wrapped": at("far wrapped"), "quote": quote("USDX", "1"),
            "swap_url": "https://far.example", "bridge_status_url": bridge,
        },
    });
    config
}

/// A pool of the wrapped coin, first, and another token, second.
fn fill(chain: &ScriptedChain, pair: &str, wrapped: &str, (dollars, coins): (u128, u128)) {
    let (pair, wrapped) = (ScriptedChain::address_of(pair), ScriptedChain::address_of(wrapped));
    chain.mock_call(pair, "token0() returns (address)", &[json!(wrapped)]);
    let reserves = [(coins * COIN).to_string().into(), (dollars * 1_000_000).to_string().into(), json!(77)];
    chain.mock_call(pair, RESERVES, &reserves);
}

impl Site {
    async fn market(&self) -> Value {
        let response = self.gateway.get(PATH).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    async fn market_says(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        self.until(what, async || holds(&self.gateway.get(PATH).await.json())).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exchange_has_the_price_and_the_other_chain_stands_in_for_it() {
    let (url, report) = bridge().await;
    let at = ScriptedChain::address_of;
    each(trading(&url), async |site| {
        report.lock().unwrap().clear();
        assert_refused(&site.gateway.get(PATH).await, 503, "market_unavailable");
        // The factory answers every question with this pair, so it counts for both tokens.
        site.main.mock_call(at("factory"), "getPair(address,address) returns (address)", &[json!(at("pair"))]);
        fill(&site.main, "pair", "wrapped", (750, 30_000));
        fill(&site.dev, "far pair", "far wrapped", (90, 3_000));
        site.market_says("both are read", |market| market["secondary"].is_object()).await;
        assert_both(&site.market().await, &url);

        // The bridge works; then its report is ten minutes old.
        let made_at = site.gateway.now_s();
        *report.lock().unwrap() = json!({ "updatedAt": made_at, "chains": [{ "paused": false }] }).to_string();
        let is = |paused: bool| move |market: &Value| market["secondary"]["bridgePaused"] == paused;
        site.market_says("the bridge works", is(false)).await;
        assert_eq!(site.market().await["secondary"]["bridgeReason"], json!(null));
        site.gateway.clock().advance(Duration::from_secs(601)).await;
        site.market_says("its report is old", is(true)).await;

        // Nothing is read for a request.
        let requests = || site.main.calls().iter().filter(|call| call.method == "eth_call").count();
        let calls = requests();
        for _ in 0..5 {
            site.market().await;
        }
        assert_eq!(requests(), calls);

        an_outage(&site).await;
        site
    })
    .await;
}

/// Both venues can be read, and the report of the bridge is empty.
fn assert_both(market: &Value, url: &str) {
    let at = ScriptedChain::address_of;
    let pair = at("pair");
    // 750 dollars and 30,000 coins: 0.025 each, and the fixed price is twice that.
    for (member, expected) in [
        ("venue", json!("service-dex")),
        ("chain", json!("main")),
        ("chainId", json!(3961)),
        ("pair", json!(pair)),
        ("token", json!(at("wrapped"))),
        ("quoteSymbol", json!("USDF")),
        ("quoteToken", json!(at("USDF"))),
        ("quoteReserve", json!("750.0")),
        ("priceInQuote", json!("0.025")),
        ("usdPerQuote", json!("1.0")),
        ("usdPerFmx", json!("0.025")),
        ("liquidityUsd", json!("1500.0")),
        ("wfmxReserve", json!("30000.0")),
        ("lastTradeAt", json!(77)),
        ("poolUrl", json!(format!("https://dex.example/pool/{pair}"))),
        ("dexUrl", json!("https://dex.example")),
        ("swapUrl", json!("https://dex.example/swap")),
        ("quoteUsdPerFmx", json!("0.05")),
        ("quoteVsMarketPct", json!(100.0)),
        ("primaryError", json!(null)),
        ("bridgePaused", json!(null)),
    ] {
        assert_eq!(market[member], expected, "{member}: {market}");
    }
    let pools = market["pools"].as_array().unwrap();
    let of_pools: Vec<_> = pools.iter().map(|pool| (&pool["quoteSymbol"], &pool["usdPerFmx"])).collect();
    let aznt = json!("0.014705882352941176");
    assert_eq!(of_pools, [(&json!("USDF"), &json!("0.025")), (&json!("AZNT"), &aznt)], "the deepest first: {market}");
    let far = &market["secondary"];
    assert_eq!(
        (&far["venue"], &far["chain"], &far["chainId"], &far["usdPerFmx"]),
        (&json!("pancakeswap"), &json!("dev"), &json!(31337), &json!("0.03")),
    );
    assert_eq!((&far["bridgePaused"], &far["bridgeStatusUrl"]), (&json!(true), &json!(url)), "an empty report: {far}");
}

/// The service chain cannot be read; then neither can.
async fn an_outage(site: &Site) {
    site.main.fail_always(Some(Fault::Status(503)));
    site.market_says("the other chain stands in", |market| market["primaryError"].is_string()).await;
    let market = site.market().await;
    assert_eq!(
        (&market["venue"], &market["usdPerFmx"], &market["bridgePaused"], &market["secondary"]),
        (&json!("pancakeswap"), &json!("0.03"), &json!(true), &json!(null)),
        "{market}"
    );
    assert_eq!((&market["quoteUsdPerFmx"], &market["quoteVsMarketPct"]), (&json!("0.05"), &json!(null)));
    assert!(market["pools"].is_null() && market["quoteSymbol"].is_null(), "{market}");

    // Neither can, and what was read before is not served.
    for server in [&site.dev, &site.second] {
        server.fail_always(Some(Fault::Status(503)));
    }
    site.until("neither is served", async || site.gateway.get(PATH).await.status == 503).await;
    let refused = site.gateway.get(PATH).await;
    assert_refused(&refused, 503, "market_unavailable");
    assert_eq!(refused.json()["source"], "service-dex, pancakeswap");
    for server in [&site.main, &site.dev, &site.second] {
        server.fail_always(None);
    }
    site.market_says("the exchange is back", |market| market["venue"] == "service-dex").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_a_venue_stops_the_plugin() {
    let chains = Chains::start().await;
    let mut config = selling();
    config["market"] = json!({ "quotes": [] });
    let gateway = chains.prepared(TestGateway::builder(), &config).open().await;
    assert!(gateway.reports().await[0].reason.contains("set together"));
    gateway.stop().await;
}

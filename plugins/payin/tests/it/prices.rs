//! Prices by feed: what pauses an asset, and what a fallback is good for.

use crate::{CHAIN_ID, CONFIRMATIONS, Chains, Site, assert_refused, buyer, deposit_address, each, selling};
use plugin_testing::{Fault, ScriptedChain, TestGateway, TestResponse, Value, Wallet, json};
use std::{sync::Mutex, time::Duration};

const ROUND: &str = "latestRoundData() returns (uint80,int256,uint256,uint256,uint80)";
const COIN: u128 = 1_000_000_000_000_000_000;
/// Of the feed of the chain's coins, whose symbol is DEV.
const MAX_AGE_S: i64 = 3600;

/// Coins of the chain are taken, at what their feed says, with a pool as fallback.
pub fn selling_for_coins() -> Value {
    let at = ScriptedChain::address_of;
    let mut config = selling();
    config["chains"]["dev"]["native"] = json!({ "symbol": "dev", "feed": {
        "address": at("dev feed"), "max_age_s": MAX_AGE_S,
        "fallback": {
            "pair": at("dev pair"), "wrapped": at("wrapped dev"),
            "quote": { "symbol": "USDX", "token": at(crate::TOKEN), "decimals": 6, "usd": "1" },
        },
    } });
    config
}

impl Site {
    /// What a feed says, with 8 decimals, and said so long ago.
    fn set_feed(&self, feed: &str, answer: &str, age_s: i64) {
        let (feed, at) = (ScriptedChain::address_of(feed), self.gateway.now_s() - age_s);
        self.dev.mock_call(feed, ROUND, &[json!(5), json!(answer), json!(at), json!(at), json!(5)]);
        self.dev.mock_call(feed, "decimals() returns (uint8)", &[json!(8)]);
    }

    /// What the pool says, in whole dollars.
    fn set_pool(&self, dollars: u128) {
        let (pair, wrapped) = (ScriptedChain::address_of("dev pair"), ScriptedChain::address_of("wrapped dev"));
        self.dev.mock_call(pair, "token0() returns (address)", &[json!(wrapped)]);
        let reserves = [(1000 * COIN).to_string().into(), (dollars * 1_000_000_000).to_string().into(), json!(1)];
        self.dev.mock_call(pair, "getReserves() returns (uint112,uint112,uint32)", &reserves);
    }

    async fn ask_for(&self, asset: &str, amount: &str, to: &Wallet) -> TestResponse {
        self.ask(json!({ "chain": "dev", "asset": asset, "amount": amount, "to": to.address() })).await
    }

    /// Sets feed and pool to 2,500 dollars, and lets time pass until a quote is given: 0.004 coins are 10 dollars.
    pub async fn coins_are_sold(&self) {
        self.set_feed("dev feed", "250000000000", 0);
        self.set_pool(2500);
        self.until("there is a price", async || {
            self.gateway.rows("SELECT usd FROM payin_prices WHERE usd IS NOT NULL").await.len() == 1
        })
        .await;
    }

    /// A quote for coins of the chain.
    pub async fn quote_coins(&self, amount: &str, to: &Wallet) -> Value {
        let quote = Mutex::new(Value::Null);
        self.until("coins are quoted", async || {
            let response = self.ask_for("dev", amount, to).await;
            let is_quoted = response.status == 201;
            if is_quoted {
                *quote.lock().unwrap() = response.json();
            }
            is_quoted
        })
        .await;
        quote.into_inner().unwrap()
    }

    /// Lets time pass until this price is stored.
    async fn price_is(&self, usd: &str) {
        self.until(usd, async || self.gateway.rows("SELECT usd FROM payin_prices").await == [usd]).await;
    }

    async fn paused_assets(&self) -> Value {
        self.service().await["pausedAssets"].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stablecoin_that_has_lost_its_peg_is_paused() {
    let mut config = selling();
    config["chains"]["dev"]["tokens"]["USDX"]["feed"] = json!({ "address": ScriptedChain::address_of("usdx feed") });
    each(config, async |site| {
        site.after_run("read_prices").await;
        assert_refused(&site.ask_for("usdx", "10", &buyer()).await, 503, "price_unavailable");
        site.set_feed("usdx feed", "99900000", 0);
        let asked = async || site.ask_for("usdx", "10", &buyer()).await.status == 201;
        site.until("there is a price", asked).await;
        // One token is one USD all the same.
        let quote = site.quote_for(&Wallet::new(12), "10").await;
        assert_eq!((&quote["usd"], &quote["assetUsd"]), (&json!("10.000001"), &json!("1.0")));
        site.deposit(&quote);

        site.set_feed("usdx feed", "97999999", 0);
        site.until("it is paused", async || site.paused_assets().await == json!(["dev USDX"])).await;
        let refused = site.ask_for("usdx", "10", &buyer()).await;
        assert_refused(&refused, 503, "price_unavailable");
        assert!(refused.text().contains("it is paused"), "{}", refused.text());
        site.dev.mine_empty(CONFIRMATIONS);
        let held = async || site.state(&quote).await["error"] == "payouts are paused";
        site.until("its payout is held back", held).await;
        // An operator reads why, and cannot end it; a feed that cannot be read does not either.
        let resume = json!({ "chain": "dev", "paused": false });
        let pauses = site.operate(&crate::operator(), "pause", "payin.pause", resume).await.json();
        let paused = &pauses["paused"][0];
        assert_eq!(
            (&paused["asset"], paused["reason"].as_str().unwrap().contains("0.97999999")),
            (&json!("USDX"), true)
        );
        site.second.fail_always(Some(Fault::Status(503)));
        site.after_run("read_prices").await;
        assert_eq!(site.paused_assets().await, json!(["dev USDX"]));
        site.second.fail_always(None);
        assert!(site.main.waiting().is_empty());

        site.set_feed("usdx feed", "98000000", 0);
        site.until("it goes on", async || site.paused_assets().await == json!([])).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn coins_have_the_price_of_their_feed_and_a_fallback_near_it() {
    each(selling_for_coins(), async |site| {
        site.coins_are_sold().await;
        let quote = site.quote_coins("0.004", &buyer()).await;
        for (member, expected) in [
            ("asset", json!("DEV")),
            ("assetKind", json!("native")),
            ("token", json!(null)),
            ("decimals", json!(18)),
            ("sendExactly", json!("4000000000000000")),
            ("usd", json!("10.0")),
            ("assetUsd", json!("2500.0")),
            ("fmxOut", json!("196000000000000000000")),
        ] {
            assert_eq!(quote[member], expected, "{member}: {quote}");
        }
        // The next one differs by what wallets keep.
        let next = site.quote_coins("0.004", &Wallet::new(12)).await;
        assert_eq!(next["sendExactly"], "4001000000000000");
        let refused = site.ask_for("dev", "0.0003", &buyer()).await;
        assert_refused(&refused, 400, "out_of_bounds");
        let assets = site.assets().await["chains"][0]["assets"].clone();
        let native = json!({ "symbol": "DEV", "kind": "native", "token": null, "decimals": 18, "stable": false,
            "addressPerQuote": false });
        assert_eq!(assets[1], native, "{assets}");

        // Feed and pool differ by more than 5 %.
        site.set_pool(2630);
        site.until("it is paused", async || site.paused_assets().await == json!(["dev DEV"])).await;
        assert_refused(&site.ask_for("dev", "0.004", &Wallet::new(13)).await, 503, "price_unavailable");
        site.set_pool(2600);
        site.until("it goes on", async || site.paused_assets().await == json!([])).await;

        // The feed is silent: the pool counts while it is near what the feed said.
        let text = |usd: &str| format!("Text(\"{usd}\")");
        site.set_feed("dev feed", "250000000000", MAX_AGE_S + 1000);
        site.price_is(&text("2600000000000000000000")).await;
        assert_eq!(site.quote_coins("0.004", &Wallet::new(14)).await["assetUsd"], "2600.0");
        site.set_pool(2630);
        site.price_is("Null").await;
        assert_refused(&site.ask_for("dev", "0.004", &Wallet::new(15)).await, 503, "price_unavailable");
        assert_eq!(site.paused_assets().await, json!([]));
        site.set_pool(2600);
        site.price_is(&text("2600000000000000000000")).await;
        // An hour later nobody knows what the feed would say.
        site.gateway.clock().advance(Duration::from_secs(3600)).await;
        site.after_run("read_prices").await;
        assert_refused(&site.ask_for("dev", "0.004", &Wallet::new(16)).await, 503, "price_unavailable");
        site.set_feed("dev feed", "250000000000", 0);
        site.price_is(&text("2500000000000000000000")).await;
        site.quote_coins("0.004", &Wallet::new(16)).await;
        site
    })
    .await;
}

/// Chains are in the order of their names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_whose_servers_hang_holds_up_no_price_of_another() {
    let aside = ScriptedChain::with_id(CHAIN_ID + 1).await;
    aside.mine_empty(10);
    let mut config = selling_for_coins();
    config["chains"]["aside"] = json!({
        "deposit": deposit_address(), "confirmations": CONFIRMATIONS, "chain_id": CHAIN_ID + 1, "name": "Aside",
        "explorer": "https://explorer.example/", "tokens": {},
        "native": { "symbol": "aside", "feed": { "address": ScriptedChain::address_of("aside feed"), "max_age_s": MAX_AGE_S } },
    });
    let chains = Chains::start().await;
    let second_of_aside = aside.another_server().await;
    let builder = chains.prepared(TestGateway::builder(), &config).chain_named("aside", &aside, &[]);
    let builder = builder.configure(|config| {
        let chain = config.chains.get_mut("aside").unwrap();
        chain.rpc.push(second_of_aside.url().into());
        chain.timeout_ms = u64::from(u32::MAX);
    });
    let Chains { main, dev, second } = chains;
    let site = Site { gateway: builder.start().await, main, dev, second };
    site.after_run("read_prices").await;
    // Its head is known by now; its feed does not answer from here on, so that the next run does not end.
    for server in [&aside, &second_of_aside] {
        server.fail_always(Some(Fault::Silence));
    }
    site.coins_are_sold().await;
    site.gateway.stop().await;
}

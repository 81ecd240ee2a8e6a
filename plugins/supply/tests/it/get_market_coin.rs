//! The coin as price aggregators describe one: the price of the deepest pool at the block of the supply.

use crate::fixture::{COIN, config, each, get, rounds, taken};
use plugin_testing::{Fault, ScriptedChain, TestGateway, Value, json};
use std::time::Duration;

const PATH: &str = "/api/market/coingecko/coins/service";
const RESERVES: &str = "getReserves() returns (uint112,uint112,uint32)";

fn config_with_market() -> Value {
    let mut config = config();
    config["market"] = json!({
        "min_depth_usd": "1000",
        "factory": ScriptedChain::address_of("factory"), "wrapped": ScriptedChain::address_of("wrapped"),
        "quotes": [{ "symbol": "USDF", "token": ScriptedChain::address_of("usdf"), "decimals": 6, "usd": "1" }],
        "name": "Example coin", "logo": "https://coin.example/logo.png",
    });
    config
}

/// A pool with this many dollars and coins.
fn fill_pool(chain: &ScriptedChain, dollars: u128, coins: u128) {
    let [factory, pair, wrapped] = ["factory", "pair", "wrapped"].map(ScriptedChain::address_of);
    chain.mock_call(factory, "getPair(address,address) returns (address)", &[json!(pair)]);
    chain.mock_call(pair, "token0() returns (address)", &[json!(wrapped)]);
    let reserves = [(coins * COIN).to_string().into(), (dollars * 1_000_000).to_string().into(), json!(7)];
    chain.mock_call(pair, RESERVES, &reserves);
}

async fn coin(gateway: &TestGateway) -> Value {
    let response = get(gateway, PATH).await;
    assert_eq!((response.status, response.header("cache-control")), (200, "public, max-age=60"), "{}", response.text());
    response.json()
}

#[tokio::test]
async fn the_deepest_pool_has_the_price() {
    each(config_with_market(), async |chain, gateway| {
        fill_pool(chain, 750, 3_000);
        chain.mine_empty(104);
        taken(&gateway, chain).await;
        rounds(&gateway, "a price", async || coin(&gateway).await["market_data"]["current_price"]["usd"].is_number())
            .await;
        let text = get(&gateway, &format!("{PATH}/?localization=false")).await.text();
        // 1,000 + 39 × 2 + 1 coins at a quarter of a dollar: numbers, written digit by digit.
        for part in [
            r#""current_price":{"usd":0.25}"#,
            r#""market_cap":{"usd":269.75}"#,
            r#""total_supply":1079,"#,
            r#""max_supply":1157.99999999,"#,
            r#""total_volume":{}"#,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let coin = coin(&gateway).await;
        assert_eq!(
            (&coin["id"], &coin["symbol"], &coin["name"]),
            (&json!("service"), &json!("fmx"), &json!("Example coin"))
        );
        assert_eq!(coin["image"]["thumb"], "https://coin.example/logo.png");
        let pair = ScriptedChain::address_of("pair");
        assert_eq!(
            (&coin["service"]["asOfBlock"], &coin["service"]["priceVenue"]),
            (&json!(40), &json!(format!("service-dex USDF {pair}")))
        );
        assert!(
            coin["service"]["stale"].is_null() && coin["last_updated"].as_str().unwrap().starts_with("2026-01-01T")
        );
        let calls = chain.calls();
        assert!(
            calls.iter().filter(|call| call.method == "eth_call").all(|call| call.params[1] == "0x28"),
            "at one block"
        );
        let unknown = get(&gateway, "/api/market/coingecko/coins/nobody").await;
        assert_eq!((unknown.status, &unknown.json()["error"]), (404, &json!("coin not found")));
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_shallow_pool_or_none_has_no_price() {
    each(config_with_market(), async |chain, gateway| {
        chain.mine_empty(70);
        taken(&gateway, chain).await;
        let no_price = async || {
            let coin = coin(&gateway).await;
            assert_eq!(
                (&coin["market_data"]["current_price"], &coin["market_data"]["market_cap"]),
                (&json!({ "usd": null }), &json!({ "usd": null }))
            );
            assert!(coin["service"]["priceVenue"].is_null());
            coin["market_data"]["total_supply"].is_number()
        };
        assert!(no_price().await, "no exchange is there");
        // 998 dollars deep.
        fill_pool(chain, 499, 3_000);
        chain.mine_empty(1);
        taken(&gateway, chain).await;
        rounds(&gateway, "the market was read", async || {
            !gateway.rows("SELECT id FROM supply_market").await.is_empty()
        })
        .await;
        assert!(no_price().await);
        fill_pool(chain, 500, 3_000);
        chain.mine_empty(1);
        rounds(&gateway, "a price", async || coin(&gateway).await["market_data"]["current_price"]["usd"].is_number())
            .await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_price_is_as_old_as_it_says() {
    each(config_with_market(), async |chain, gateway| {
        assert_eq!(get(&gateway, PATH).await.status, 503, "nothing is known yet");
        fill_pool(chain, 750, 3_000);
        chain.mine_empty(70);
        rounds(&gateway, "a price", async || {
            let response = get(&gateway, PATH).await;
            response.status == 200 && response.json()["market_data"]["current_price"]["usd"].is_number()
        })
        .await;
        chain.fail_always(Some(Fault::Status(503)));
        gateway.clock().advance(Duration::from_secs(600)).await;
        let old = coin(&gateway).await;
        assert_eq!(
            (&old["service"]["stale"], &old["market_data"]["current_price"]["usd"]),
            (&json!(true), &json!(0.25))
        );
        gateway.clock().advance(Duration::from_secs(3600)).await;
        let gone = get(&gateway, PATH).await;
        assert_eq!(
            (gone.status, gone.header("cache-control"), &gone.json()["code"]),
            (503, "no-store", &json!("chain_unavailable"))
        );
        chain.fail_always(None);
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_price_is_served_no_longer_than_its_venue_is_configured() {
    each(config_with_market(), async |chain, gateway| {
        fill_pool(chain, 750, 3_000);
        chain.mine_empty(70);
        rounds(&gateway, "a price", async || {
            let response = get(&gateway, PATH).await;
            response.status == 200 && response.json()["market_data"]["current_price"]["usd"].is_number()
        })
        .await;
        // Such as that of another version.
        gateway.execute("UPDATE supply_market SET reading = '{}'").await;
        let unread = coin(&gateway).await;
        assert_eq!(unread["market_data"]["current_price"]["usd"], json!(null), "a reading that does not parse is none");
        chain.mine_empty(1);
        rounds(&gateway, "a price again", async || {
            coin(&gateway).await["market_data"]["current_price"]["usd"].is_number()
        })
        .await;
        let gateway = gateway.restart_after(|config| {
            config.plugins.sections.get_mut("supply").unwrap().config.remove("market");
        });
        let gateway = gateway.await;
        let response = get(&gateway, PATH).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let coin = response.json();
        assert_eq!(
            (&coin["market_data"]["current_price"]["usd"], &coin["service"]["priceVenue"]),
            (&json!(null), &json!(null))
        );
        assert!(coin["market_data"]["total_supply"].is_number());
        gateway
    })
    .await;
}

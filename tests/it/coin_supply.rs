//! The coin's supply and price over HTTP: clients of price aggregators read the coin, and a program that shares nothing with the gateway
//! computes every number again from raw answers of the chain.

use crate::{
    e2e::{Site, node, python, run, setup_with_all_plugins},
    storage::Engine,
};
use gateway_tests::{postgres, process::Setup};
use plugin_testing::{ScriptedChain, TestGateway, Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const COIN: u128 = 1_000_000_000_000_000_000;
/// Amounts with decimals that no float has.
const ISSUANCE: [(&str, &str); 10] = [
    ("genesis_wei", "30000000000000000000000001"),
    ("earlier_base_wei", "259994000000000000000007"),
    ("earlier_uncle_wei", "42792000000000000000000"),
    ("earlier_nephew_wei", "2193875000000000000000"),
    ("earlier_uncles", "16299"),
    ("first_block", "5"),
    ("reward_wei", "250000000000000001"),
    ("halving_blocks", "30"),
    ("burn_block", "3"),
    ("burn_wei", "2567336314603710"),
];

fn address(name: &str) -> plugin_api::Address {
    ScriptedChain::address_of(name)
}

/// Blocks that burn something, addresses whose coins do not circulate, and a pool that is deep enough.
async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    for (name, coins) in [("treasury", 12_345), ("vesting", 600_000), ("lock", 70), ("open", 9)] {
        chain.set_balance(address(name), &(coins * COIN + 3).to_string());
        // What they have after the snapshot's block is something else.
        chain.set_balance_from(121, address(name), "1");
    }
    chain.set_balance(plugin_api::Address::ZERO, "17");
    chain.mock_call(address("vesting"), "releasable() returns (uint256)", &[(1234 * COIN + 1).to_string().into()]);
    chain.mock_call(address("lock"), "remaining() returns (uint256)", &[json!(1)]);
    chain.mock_call(address("open"), "remaining() returns (uint256)", &[json!(0)]);
    let pair = address("pair");
    chain.mock_call(address("factory"), "getPair(address,address) returns (address)", &[json!(pair)]);
    chain.mock_call(pair, "token0() returns (address)", &[json!(address("usdf"))]);
    let reserves = [json!("750000000"), (3000 * COIN).to_string().into(), json!(7)];
    chain.mock_call(pair, "getReserves() returns (uint112,uint112,uint32)", &reserves);
    for block in 1..=120_u64 {
        if block.is_multiple_of(4) {
            chain.mine_empty(1);
        } else {
            chain.mine_fees(21_000 * block, 1_000_000_007 + u128::from(block));
        }
    }
    chain.mine_empty(64);
    chain
}

fn config(chain: &ScriptedChain) -> String {
    let wallet = |name: &str, category: &str| {
        format!("{{ address = \"{}\", label = \"{name}\", category = \"{category}\" }}", address(name))
    };
    let excluded = [
        wallet("treasury", "foundation"),
        wallet("vesting", "vesting"),
        wallet("lock", "locked"),
        wallet("open", "locked"),
    ];
    let number = |key: &str| !key.ends_with("_wei");
    let issuance = ISSUANCE
        .map(|(key, value)| if number(key) { format!("{key} = {value}") } else { format!("{key} = \"{value}\"") });
    format!(
        "[chains.main]\nrpc = [\"{}\"]\nchain_id = 3961\npoll_ms = 50\n\
         [plugins.supply]\nexcluded = [{}]\n[plugins.supply.issuance]\n{}\n\
         [plugins.supply.market]\nfactory = \"{}\"\nwrapped = \"{}\"\ncoin_id = \"example-coin\"\nname = \"Example coin\"\n\
         quotes = [{{ symbol = \"USDF\", token = \"{}\", decimals = 6, usd = \"1\" }}]\n",
        chain.url(),
        excluded.join(", "),
        issuance.join("\n"),
        address("factory"),
        address("wrapped"),
        address("usdf"),
    )
}

async fn setup(chain: &ScriptedChain, engine: Engine) -> Setup {
    let setup = setup_with_all_plugins().unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    let setup = setup.with_only(&["supply"]).unwrap().with_config(&config(chain)).unwrap();
    match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aggregators_and_a_second_program_read_the_same_numbers() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let chain = chain().await;
        let gateway = setup(&chain, engine).await.start().await.unwrap();
        let site = Site::of(&gateway);
        let is_taken = async || site.get("/api/supply").await.status == 200;
        TestGateway::eventually(LIMIT, "a snapshot", is_taken).await;

        let base_url = gateway.base_url().to_owned();
        let issuance = Value::from_iter(ISSUANCE).to_string();
        let recount = run(python("supply_recount.py"), &[&base_url, &chain.url(), &issuance]).await;
        let recount: Value = serde_json::from_str(&recount).unwrap();
        assert_eq!((&recount["block"], &recount["excluded"]), (&json!(120), &json!(4)), "{recount}");
        let in_coins = |name: &str| recount[name].as_str().unwrap().parse::<u128>().unwrap() / COIN;

        let read = run(python("coin.py"), &[&base_url, "example-coin"]).await;
        let mut told: Value = serde_json::from_str(&read).unwrap();
        let read = run(node("coin.mjs"), &[&base_url, "example-coin"]).await;
        told["coingecko-typescript"] = serde_json::from_str(&read).unwrap();
        for (client, coin) in told.as_object().unwrap() {
            let names = (&coin["id"], &coin["symbol"], &coin["name"]);
            assert_eq!(names, (&json!("example-coin"), &json!("fmx"), &json!("Example coin")), "{client}: {coin}");
            let whole = |name: &str| coin[name].to_string().split('.').next().unwrap().parse::<u128>().unwrap();
            for name in ["total", "circulating", "max"] {
                assert_eq!(whole(name), in_coins(name), "{client}: {coin}");
            }
            assert_eq!(coin["usd"], json!(0.25), "{client}: {coin}");
            assert_eq!(
                whole("marketCap"),
                recount["circulating"].as_str().unwrap().parse::<u128>().unwrap() / (4 * COIN),
                "{client}: {coin}"
            );
            assert_eq!(
                coin["chart"],
                json!({ "prices": [], "market_caps": [], "total_volumes": [] }),
                "{client}: {coin}"
            );
            assert!(coin["unknown"] == 404 || coin["unknown"] == "coin not found", "{client}: {coin}");
            assert!(coin["updated"].as_str().unwrap().contains('T'), "{client}: {coin}");
        }
        assert_eq!(told.as_object().unwrap().len(), 3, "three clients");
    }
}

//! `GET /api/supply`: every number follows from one block, and from what the chain says of it.

use crate::fixture::{COIN, config, each, taken};
use plugin_testing::{ScriptedChain, Value, json};

const DEAD: &str = "0x000000000000000000000000000000000000dEaD";

fn address(name: &str) -> plugin_api::Address {
    ScriptedChain::address_of(name)
}

fn coins(count: u128) -> String {
    (count * COIN).to_string()
}

fn config_with_wallets() -> Value {
    let mut config = config();
    let wallet = |name: &str, category: &str| json!({ "address": address(name), "label": name, "category": category });
    config["excluded"] = json!([
        wallet("treasury", "foundation"),
        wallet("vesting", "vesting"),
        wallet("lock", "locked"),
        wallet("open", "locked"),
    ]);
    config
}

/// What addresses have after block 80, and something else after block 81.
fn hand_out(chain: &ScriptedChain) {
    for (name, wei) in [("treasury", coins(100)), ("vesting", coins(50)), ("lock", coins(7)), ("open", coins(9))] {
        chain.set_balance(address(name), &wei);
        chain.set_balance_from(81, address(name), &coins(999));
    }
    chain.set_balance(DEAD.parse().unwrap(), &coins(3));
    chain.set_balance_from(81, DEAD.parse().unwrap(), "0");
    chain.mock_call(address("vesting"), "releasable() returns (uint256)", &[coins(20).into()]);
    chain.mock_call(address("lock"), "remaining() returns (uint256)", &[json!(1)]);
    chain.mock_call(address("open"), "remaining() returns (uint256)", &[json!(0)]);
}

#[tokio::test]
async fn every_number_follows_from_one_block() {
    each(config_with_wallets(), async |chain, gateway| {
        hand_out(chain);
        chain.mine_empty(78);
        assert_eq!(chain.mine_fees(21_000, 1_000_000_007), 79);
        assert_eq!(chain.mine_fees(30_000_000, 7), 80);
        // Of no snapshot yet.
        chain.mine_fees(30_000_000, 1_000_000_000_000);
        chain.mine_empty(63);
        let supply = taken(&gateway, chain).await;
        assert_eq!((&supply["asOfBlock"], &supply["head"]), (&json!(80), &json!(144)));
        // Block 80 is at 560 s of the chain's time.
        assert_eq!(supply["asOfTimestamp"], 1_767_225_600 + 560);
        let burned = 21_000 * 1_000_000_007_u128 + 30_000_000 * 7;
        // Blocks 1 to 39, 40 to 79, and 80.
        let paid = 39 * 2 * COIN + 40 * COIN + COIN / 2;
        let total = 1000 * COIN + paid - burned - 3 * COIN;
        let circulating = total - (100 + 30 + 7 + 9) * COIN;
        // 1,000 and 39 × 2 and 40 × 1, ½, ¼ … down to one wei.
        let eras: u128 = (1..=61).map(|era| 40 * ((2 * COIN) >> era)).sum();
        let max = 1000 * COIN + 39 * 2 * COIN + eras;
        let wei = |name: &str| supply["wei"][name].as_str().unwrap().parse::<u128>().unwrap();
        assert_eq!((wei("total"), wei("circulating"), wei("max")), (total, circulating, max), "{supply}");
        let parts = &supply["components"];
        let part = |name: &str| parts[name]["wei"].as_str().unwrap().parse::<u128>().unwrap();
        assert_eq!(
            (part("burnedBaseFees"), part("authorityIssuance"), part("burnAddresses")),
            (burned, paid, 3 * COIN)
        );
        assert_eq!(parts["burnedBaseFees"]["throughBlock"], 80);
        assert_eq!(parts["authorityIssuance"]["rewardPerBlockFmx"], "0.5");
        let excluded: Vec<&str> =
            supply["excluded"].as_array().unwrap().iter().map(|of| of["excluded"].as_str().unwrap()).collect();
        assert_eq!(excluded, ["100.0", "30.0", "7.0", "9.0"]);
        assert_eq!(
            supply["excludedTotals"],
            json!({ "locked": "7.0", "vesting": "30.0", "foundation": "109.0", "all": "146.0" })
        );
        // Balances of another block would be others; the contracts say the same at every block.
        let calls = chain.calls();
        let mut blocks = calls.iter().filter(|call| call.method == "eth_call").map(|call| &call.params[1]).peekable();
        assert!(blocks.peek().is_some() && blocks.all(|block| block == "0x50"));
        let status = gateway.get("/api/status").await.json()["services"]["supply"].clone();
        assert_eq!(
            (&status["ok"], &status["asOfBlock"], &status["burnCountedThrough"]),
            (&json!(true), &json!(80), &json!(80))
        );
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_contract_that_does_not_answer_is_a_fault_and_no_number() {
    let gateways = async |chain: &ScriptedChain, gateway: plugin_testing::TestGateway| {
        chain.mine_empty(80);
        crate::fixture::rounds(&gateway, "the fault", async || !gateway.faults().await.is_empty()).await;
        let fault = gateway.faults().await.remove(0);
        assert!(fault.contains("vesting") && fault.contains("excluded address"), "{fault}");
        assert_eq!(gateway.get("/api/supply").await.status, 503);
        gateway.stop().await;
    };
    let chain = ScriptedChain::start().await;
    chain.mock_call(address("vesting"), "remaining() returns (uint256)", &[json!(1)]);
    let mut config = config();
    config["excluded"] = json!([{ "address": address("vesting"), "label": "vesting", "category": "vesting" }]);
    let builder = crate::fixture::prepared(plugin_testing::TestGateway::builder(), &chain, &config);
    gateways(&chain, builder.start().await).await;
}

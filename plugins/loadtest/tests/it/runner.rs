//! The runner: what was put in comes back, to the wei, through reorganisations, restarts and servers that lose what they are sent.

use super::{
    DEPOSIT, DEPTH, FLOAT, MINUTE, PAYEE, SECOND, SINK, config, control, derived, each_built, eventually, fund, payer,
    start, stats, with_seed,
};
use plugin_testing::{Builder, Fault, ScriptedChain, TestGateway, Value, Wallet, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Mines a block whenever the last one was followed, and lets the runner work, until this holds.
pub async fn mine_until(chain: &ScriptedChain, gateway: &TestGateway, what: &str, holds: impl AsyncFn(&Value) -> bool) {
    let started = Instant::now();
    loop {
        if has_followed(gateway, chain.head()).await {
            chain.mine_empty(1);
        }
        gateway.clock().advance(SECOND).await;
        let stats = stats(gateway).await;
        if holds(&stats).await {
            return;
        }
        let (head, waiting) = (chain.head(), chain.waiting().len());
        tokio::time::sleep(BETWEEN_LOOKS).await;
        assert!(started.elapsed() < MINUTE, "{what}: not within a minute; block {head}, {waiting} wait, {stats}");
    }
}

/// Whether the plugin has read this block.
pub async fn has_followed(gateway: &TestGateway, block: u64) -> bool {
    let followed = gateway.rows("SELECT max(number) FROM loadtest_blocks").await.concat();
    let followed = followed.trim_start_matches("Int(").trim_end_matches(')').parse::<u64>();
    followed.is_ok_and(|followed| followed >= block)
}

fn wei(text: &Value) -> u128 {
    text.as_str().unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

/// Everything that was put in is in the float, in the wallets, in the sink, or was spent on gas; the counters are those of the chain.
pub async fn assert_balanced(chain: &ScriptedChain, gateway: &TestGateway, wallets_are_empty: bool) {
    let addresses: Vec<String> = gateway.rows("SELECT address FROM loadtest_wallets ORDER BY idx").await;
    let addresses = addresses.iter().map(|row| row.trim_start_matches("Text(\"").trim_end_matches("\")").to_owned());
    let balance = |address: &str| -> u128 { chain.balance(address.parse().unwrap()).to_string().parse().unwrap() };
    let balances: BTreeMap<String, u128> = addresses.map(|address| (address.clone(), balance(&address))).collect();
    let held: u128 = balances.values().sum::<u128>() + balance(SINK);
    let mined = chain.mined();
    let gas: u128 = mined.iter().map(|tx| u128::from(tx.gas) * tx.max_fee).sum();
    assert_eq!(held + gas, DEPOSIT);
    assert!(
        mined.iter().all(|tx| tx.data == *b"FXLT\x01" && tx.tip == tx.max_fee),
        "each is marked, and pays one price"
    );
    let stats = stats(gateway).await;
    if wallets_are_empty {
        let in_wallets: u128 = balances.iter().filter(|(address, _)| *address != FLOAT).map(|(_, wei)| wei).sum();
        assert_eq!(in_wallets, 0, "{balances:?}");
        assert_eq!(wei(&stats["counters"]["gasWei"]), gas, "{stats}");
        assert_eq!(stats["counters"]["transactions"], json!(mined.len()), "{stats}");
        let volume: u128 = mined.iter().map(|tx| tx.value.to_string().parse::<u128>().unwrap()).sum();
        assert_eq!(wei(&stats["counters"]["volumeWei"]), volume, "{stats}");
        assert_eq!(stats["organic"]["transactions"], json!(0));
        // What the operator's page shows.
        let control = gateway.collect("controls", &json!({})).await["loadtest"][0].clone();
        let counters = control["counters"].as_array().unwrap().iter();
        let counters: BTreeMap<_, _> =
            counters.map(|one| (one["name"].as_str().unwrap(), one["value"].as_str().unwrap())).collect();
        assert_eq!(counters["transactions in final blocks"], mined.len().to_string(), "{control}");
        assert_eq!(counters["transactions under way"], "0", "{control}");
        let fees = counters["fees"].trim_end_matches(" coins").replace('.', "");
        assert_eq!(fees.trim_matches('0'), gas.to_string().trim_matches('0'), "{control}");
        let hours: Vec<u64> = serde_json::from_value(control["plot"]["values"].clone()).unwrap();
        assert_eq!((hours.len(), hours.iter().sum::<u64>()), (24, mined.len() as u64), "{control}");
    }
}

#[tokio::test]
async fn what_was_put_in_comes_back_to_the_wei_through_disturbances() {
    each_built(config(json!({})), with_seed, async |chain, mut gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        let early = control(&gateway, "drain").await;
        assert_eq!((early.status, early.code().as_str()), (409, "not_started"), "{}", early.text());
        start(&gateway).await;
        for disturbance in 0..6 {
            let before = chain.mined().len();
            mine_until(chain, &gateway, "transactions are mined", async |_| chain.mined().len() > before + 4).await;
            match disturbance {
                0 | 3 => drop(chain.reorg(DEPTH - 1)),
                1 => chain.lose(false),
                2 => chain.fail_next(8, Fault::Status(502)),
                4 => {
                    chain.reorg(2);
                    chain.lose(false);
                }
                _ => {}
            }
            gateway = gateway.restart().await;
        }
        mine_until(chain, &gateway, "all wallets were used", async |stats| {
            stats["wallets"]["pass"].as_i64().unwrap() >= 1
        })
        .await;
        assert_balanced(chain, &gateway, false).await;
        assert_eq!(control(&gateway, "drain").await.json()["mode"], json!("draining"));
        mine_until(chain, &gateway, "it is drained", async |stats| stats["drained"] == json!(true)).await;
        assert_balanced(chain, &gateway, true).await;
        let stats = stats(&gateway).await;
        assert_eq!(stats["counters"]["byKind"]["sink"], json!(1), "{stats}");
        assert_eq!(stats["sinkTransfers"][0]["valueWei"], json!(chain.balance(SINK.parse().unwrap())));
        assert_eq!(chain.balance(FLOAT.parse().unwrap()).to_string(), "0");
        assert_eq!(gateway.rows("SELECT count(*) FROM loadtest_transactions").await, ["Int(0)"]);
        assert_eq!(gateway.rows("SELECT count(*) FROM loadtest_accounts WHERE idx > 0").await, ["Int(0)"]);
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_reorganisation_soon_after_the_start_hides_no_transaction() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        chain.mine_empty(2 * DEPTH);
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        eventually(&gateway, "transactions are sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(1);
        eventually(&gateway, "they are seen", async || has_followed(&gateway, chain.head()).await).await;
        let sent = chain.mined();
        assert!(!sent.is_empty());
        drop(chain.reorg(DEPTH - 1));
        chain.mine_empty(2 * DEPTH);
        assert!(chain.mined().len() >= sent.len(), "they are in blocks again");
        mine_until(chain, &gateway, "it goes on", async |stats| stats["wallets"]["pass"].as_i64().unwrap() >= 1).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_block_is_final() {
    each_built(config(json!({ "count_from_block": 30 })), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        chain.mine_empty(30 + DEPTH - 1 - chain.head());
        let reason = async || stats(&gateway).await["pauseReason"].as_str().unwrap_or_default().to_owned();
        eventually(&gateway, "it says why", async || reason().await.contains("no block is followed yet")).await;
        for _ in 0..5 {
            gateway.clock().advance(SECOND).await;
        }
        assert_eq!((chain.waiting().len(), chain.mined().len()), (0, 0));
        mine_until_first(chain, &gateway).await;
        assert_eq!(gateway.rows("SELECT min(number) FROM loadtest_blocks").await, ["Int(30)"]);
        mine_until(chain, &gateway, "it begins", async |stats| stats["wallets"]["pass"].as_i64().unwrap() >= 1).await;
        gateway
    })
    .await;
}

/// Block 30 is final, and taken in.
async fn mine_until_first(chain: &ScriptedChain, gateway: &TestGateway) {
    chain.mine_empty(1);
    eventually(gateway, "the first block is followed", async || has_followed(gateway, 30).await).await;
}

/// Of the transactions that are signed and not yet final.
async fn ids(gateway: &TestGateway) -> BTreeSet<String> {
    gateway.rows("SELECT id FROM loadtest_transactions").await.into_iter().collect()
}

#[tokio::test]
async fn it_pauses_with_the_reason_and_goes_on() {
    let config = config(json!({ "head_age_max_s": 120, "float_min_wei": "9000000000000000000" }));
    each_built(config, with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        // The chain stands still.
        gateway.clock().advance(Duration::from_secs(600)).await;
        let paused_for = async |reason: &str| {
            let stats = stats(&gateway).await;
            stats["paused"] == json!(true) && stats["pauseReason"].as_str().unwrap_or_default().contains(reason)
        };
        eventually(&gateway, "it pauses for the head", async || paused_for("the newest block is").await).await;
        let before = chain.mined().len();
        assert_eq!(chain.waiting().len() + before, gateway.rows("SELECT id FROM loadtest_transactions").await.len());
        chain.mine_empty(200);
        mine_until(chain, &gateway, "it goes on", async |_| chain.mined().len() > before).await;
        assert_eq!(control(&gateway, "pause").await.status, 200);
        eventually(&gateway, "it is paused", async || paused_for("an operator paused it").await).await;
        let waiting = chain.waiting().len();
        let signed: BTreeSet<String> = ids(&gateway).await;
        for _ in 0..3 {
            gateway.clock().advance(SECOND).await;
        }
        // Those that are final meanwhile are forgotten.
        assert!(ids(&gateway).await.is_subset(&signed), "nothing is signed");
        assert_eq!(chain.waiting().len(), waiting, "and nothing is sent");
        gateway
    })
    .await;
}

/// A wave of three wallets costs 3 * (1 + 2 + 1) transactions of 21,080 gas at the lowest price.
const LOWEST_PRICE: u64 = 1_000_000_014;
const WAVE: u64 = 12 * 21_080 * LOWEST_PRICE;

/// With this many waves at the same time and this highest price, what two waves cost at the lowest is enough for so many.
async fn has_so_many_waves(waves_max: u32, gas_price_max_wei: u64, waves: u32) {
    let limits = json!({ "spend_max_wei": (2 * WAVE).to_string(), "waves_max": waves_max,
        "gas_price_max_wei": gas_price_max_wei.to_string() });
    each_built(config(limits), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        mine_until(chain, &gateway, "it drains by itself", async |stats| stats["drained"] == json!(true)).await;
        assert_balanced(chain, &gateway, true).await;
        let stats = stats(&gateway).await;
        assert_eq!(stats["counters"]["byKind"]["fund"], json!(3 * waves), "{stats}");
        gateway
    })
    .await;
}

#[tokio::test]
async fn it_spends_no_more_than_it_may() {
    has_so_many_waves(1, LOWEST_PRICE, 2).await;
}

/// Its coins must come home at any price, and the fees stay below the cap all the same.
#[tokio::test]
async fn no_wave_begins_whose_way_home_might_cost_too_much() {
    has_so_many_waves(2, 2_000_000_000, 1).await;
}

#[tokio::test]
async fn a_gateway_that_may_not_run_it_sends_nothing() {
    each_built(config(json!({ "runner": false })), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        let refused = control(&gateway, "start").await;
        assert_eq!((refused.status, refused.code().as_str()), (503, "disabled"), "{}", refused.text());
        assert_eq!(stats(&gateway).await["mode"], json!("off"));
        assert!(chain.mined().is_empty() && chain.waiting().is_empty());
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_the_seed_of_the_key_nothing_is_sent() {
    let other_seed = |builder: Builder| builder.seed("loadtest", &"11".repeat(32));
    each_built(config(json!({})), other_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        eventually(&gateway, "the reason is told", async || {
            stats(&gateway).await["pauseReason"].as_str().unwrap_or_default().contains("not that of xpub")
        })
        .await;
        assert!(chain.mined().is_empty() && chain.waiting().is_empty());
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_payout_goes_first() {
    const PAYIN: u64 = 900;
    let with_payer = |builder: Builder| with_seed(builder).plugin(payer::module()).signer("payin", PAYIN);
    each_built(config(json!({})), with_payer, async |chain, gateway| {
        fund(chain);
        chain.set_balance(Wallet::new(PAYIN).address().parse().unwrap(), "1000000000000000000");
        derived(&gateway, 6).await;
        start(&gateway).await;
        mine_until(chain, &gateway, "the wallets are funded", async |_| chain.mined().len() >= 3).await;
        chain.hold(true);
        let paid = gateway.send("POST", "/api/payer", &[], String::new()).await;
        assert_eq!(paid.status, 200, "{}", paid.text());
        let is_waiting = || chain.waiting().iter().any(|tx| tx.to.to_string().eq_ignore_ascii_case(PAYEE));
        eventually(&gateway, "the payout is sent", async || is_waiting()).await;
        mine_until(chain, &gateway, "the load test waits for it", async |stats| {
            stats["pauseReason"].as_str().unwrap_or_default().contains("go first")
        })
        .await;
        let signed = async || gateway.rows("SELECT max(id) FROM loadtest_transactions").await;
        let before = signed().await;
        for _ in 0..5 {
            gateway.clock().advance(SECOND).await;
        }
        assert_eq!(signed().await, before, "nothing is signed meanwhile");
        // What cannot be read may wait.
        gateway.execute("ALTER TABLE host_tx_intents RENAME TO host_tx_away").await;
        mine_until(chain, &gateway, "the load test waits for what it cannot know", async |stats| {
            stats["pauseReason"].as_str().unwrap_or_default().contains("cannot be read now, and go first")
        })
        .await;
        gateway.execute("ALTER TABLE host_tx_away RENAME TO host_tx_intents").await;
        chain.hold(false);
        let mined = chain.mined().len();
        mine_until(chain, &gateway, "both go on", async |_| chain.mined().len() > mined + 6).await;
        assert!(chain.mined().iter().any(|tx| tx.to.to_string().eq_ignore_ascii_case(PAYEE)));
        gateway
    })
    .await;
}

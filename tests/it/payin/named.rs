//! The chains that have names, with their real ids and with dollars at their real addresses: the gateway is told where deposits go, and
//! knows the rest. Each is behind one server that answers for few blocks and few events, and one that is behind it, and lies for a while.
//!
//! CI plays two of the seven, one on each database; `cargo xtask prove` plays all on both.

use super::{
    Shop,
    deposits::{LIBRARIES, NO_QUOTE, call, send, transfer, units},
    shop::chains,
};
use crate::{crash::query, storage::Engine};
use futures_util::future::join_all;
use gateway_tests::{
    devnet::{DepositChain, Devnet, NamedChainContracts, encoded},
    process::{LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, Wallet, json};

/// Of CI.
const SAMPLE: usize = 2;
const GAS: &str = "0x493e0";
/// Blocks by which the second server is behind the first.
const LAG: u64 = 2;
/// How the servers say that they were asked for too much, by the chain's place.
const STYLES: [&str; 6] = ["infura", "alchemy", "quicknode", "ankr", "bsc", "geth"];
const BLOCKS_MAX: u64 = 25;
const EVENTS_MAX: u64 = 2;
/// What happens beside a transaction of coins is the operator's.
const INTERNAL: &str = "it came by no transfer at the top of a transaction";
/// Of the event of a transfer that was none.
const UNTRUE: &str = "the events of block ";
/// Runs of the scan that get nowhere.
const RUNS: usize = 2;

/// What a quote's deposit is: how much arrives, what becomes of it, and the reason; nothing where it is none.
type Arrival = Option<(u128, &'static str, &'static str)>;

struct Case {
    name: &'static str,
    chain: usize,
    quote: Value,
    to: Wallet,
    arrival: Arrival,
}

impl Case {
    fn is_paid(&self) -> bool {
        matches!(self.arrival, Some((_, "matched", _)))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_with_real_ids_pay_for_what_arrived_whatever_their_servers_say() {
    let count = std::env::var("GATEWAY_TEST_CHAINS").ok().and_then(|text| text.parse().ok()).unwrap_or(SAMPLE);
    let devnet = Devnet::start_with(&["--payin-named", &count.to_string()]).await.unwrap();
    let all = chains(&devnet);
    assert_eq!(all.len(), count);
    let open = async |engine, number| {
        // Where there are few, one chain on each database.
        let of_shop = all.iter().skip(if count == SAMPLE { number } else { 0 });
        let of_shop = of_shop.step_by(if count == SAMPLE { SAMPLE } else { 1 }).collect();
        // One client asks for everything.
        let adjust = |setup: Setup| setup.set("limits.allow", "127.0.0.1/32");
        Shop::open_with(&devnet, engine, &["payin"], of_shop, adjust).await
    };
    let shops: [Shop<'_>; 2] = tokio::join!(open(Engine::Sqlite, 0), open(Engine::Postgres, 1)).into();
    shops_know_the_facts(&shops).await;
    join_all(all.iter().enumerate().map(|(place, chain)| limit(&devnet, place, chain))).await;
    // Until the second servers have what the gateway knew of them.
    join_all(all.iter().map(|chain| mine(&devnet, chain, LAG + 1))).await;

    let mut steps: Vec<Vec<Value>> = vec![Vec::new(); all.len()];
    let mut of_shops = Vec::new();
    for (shop, number) in shops.iter().zip(1_u64..) {
        let mut cases = Vec::new();
        for ((place, chain), steps) in all.iter().enumerate().zip(&mut steps) {
            if !sells_on(shop, chain) {
                continue;
            }
            Sale { shop, chain, place, first: 1_000_000 * number + 1000 * place as u64, cases: &mut cases, steps }
                .prepare()
                .await;
        }
        of_shops.push(cases);
    }
    second_servers(&devnet, json!({ "lieLogs": "alter" })).await;
    join_all(all.iter().enumerate().map(|(place, chain)| send(&devnet, chain, library(place), &steps[place]))).await;
    for chain in all {
        confirm(&devnet, chain).await;
    }
    let found = "SELECT units FROM payin_deposits";
    join_all(shops.iter().map(|shop| scans_and_has_none(shop, found, "of one server's events"))).await;
    // Now they agree on events, and one says of every transaction that it failed.
    second_servers(&devnet, json!({ "lieLogs": null, "lieReceipts": true })).await;
    let confirmed = "SELECT id FROM payin_quotes WHERE status IN ('confirmed', 'paid')";
    join_all(shops.iter().map(|shop| scans_and_has_none(shop, confirmed, "by one server's receipts"))).await;
    second_servers(&devnet, json!({ "lieReceipts": false })).await;
    join_all(shops.iter().zip(&of_shops).map(|(shop, cases)| is_as_the_table_says(shop, all, cases))).await;
    join_all(all.iter().map(|chain| leave_and_return(&devnet, &shops, chain))).await;
}

fn library(place: usize) -> (&'static str, &'static str) {
    // Not ethers for Polygon, for which it asks a server in the internet what gas costs; web3.py, which takes longest to begin, last.
    LIBRARIES[(2 * place + 1) % LIBRARIES.len()]
}

fn named(chain: &DepositChain) -> &NamedChainContracts {
    chain.named.as_ref().expect("the dev network has the option --payin-named")
}

fn sells_on(shop: &Shop<'_>, chain: &DepositChain) -> bool {
    shop.chains.iter().any(|one| one.name == chain.name)
}

/// Of the named chains only the deposit address was configured; the token ODD and the feed are the dev network's.
async fn shops_know_the_facts(shops: &[Shop<'_>; 2]) {
    for shop in shops {
        let assets = shop.site.get("/api/payin/assets").await.json();
        for chain in &shop.chains {
            let said = assets["chains"].as_array().unwrap().iter().find(|said| said["chain"] == chain.name).unwrap();
            let expected = (json!(chain.chain_id), json!(chain.confirmations), json!(shop.deposit));
            let of_chain = (&said["chainId"], &said["confirmations"], &said["depositAddress"]);
            assert_eq!(of_chain, (&expected.0, &expected.1, &expected.2));
            let asset =
                |symbol: &str| said["assets"].as_array().unwrap().iter().find(|one| one["symbol"] == symbol).unwrap();
            for (symbol, token) in [("USDC", &chain.token), ("USDT", &named(chain).usdt)] {
                let of = (&asset(symbol)["token"], &asset(symbol)["decimals"]);
                assert_eq!(of, (&json!(token), &json!(chain.decimals)), "{said}");
            }
        }
    }
}

/// The first server has limits, the second one is behind it.
async fn limit(devnet: &Devnet, place: usize, chain: &DepositChain) {
    let [first, second] = &chain.rpc_urls[..] else { panic!("two servers") };
    let limits = json!({ "logsRangeMax": BLOCKS_MAX, "logsResultsMax": EVENTS_MAX, "logsErrorStyle": STYLES[place % STYLES.len()] });
    devnet.control_at(first, limits).await.unwrap();
    devnet.control_at(second, json!({ "lagBlocks": LAG })).await.unwrap();
}

async fn second_servers(devnet: &Devnet, rules: Value) {
    join_all(chains(devnet).iter().map(|chain| devnet.control_at(&chain.rpc_urls[1], rules.clone())))
        .await
        .into_iter()
        .for_each(Result::unwrap);
}

/// As many blocks as a deposit in the newest one needs, for the server that is behind, too.
async fn confirm(devnet: &Devnet, chain: &DepositChain) {
    mine(devnet, chain, chain.confirmations + LAG).await;
}

async fn mine(devnet: &Devnet, chain: &DepositChain, blocks: u64) {
    devnet.ask_at::<Value>(&chain.anvil_url, "anvil_mine", json!([format!("{blocks:#x}")])).await.unwrap();
}

async fn head(devnet: &Devnet, chain: &DepositChain) -> u64 {
    let head: String = devnet.ask_at(&chain.anvil_url, "eth_blockNumber", json!([])).await.unwrap();
    u64::from_str_radix(head.trim_start_matches("0x"), 16).unwrap()
}

/// Lets scans begin and end.
async fn runs_of_scan(shop: &Shop<'_>) {
    let runs = async || {
        let of_job = "SELECT CAST(runs AS TEXT) FROM host_job_runs WHERE plugin = 'payin' AND job = 'scan'";
        query(&shop.setup, of_job).await[0][0].parse::<usize>().unwrap()
    };
    let before = runs().await;
    shop.until("the chains are scanned again", async || runs().await >= before + RUNS).await;
}

async fn scans_and_has_none(shop: &Shop<'_>, rows: &'static str, why: &str) {
    runs_of_scan(shop).await;
    assert_eq!(query(&shop.setup, rows).await, [[""; 0]; 0], "{why}");
}

/// One chain's cases and steps for one shop.
struct Sale<'s, 'n> {
    shop: &'s Shop<'n>,
    chain: &'s DepositChain,
    place: usize,
    first: u64,
    cases: &'s mut Vec<Case>,
    steps: &'s mut Vec<Value>,
}

impl Sale<'_, '_> {
    /// Asks for a quote, and adds what is sent for it. `step` makes that of the amount, `arrival` says what it becomes.
    async fn sell(
        &mut self,
        name: &'static str,
        (asset, amount): (&str, &str),
        step: impl Fn(&Self, u128) -> Value,
        arrival: impl Fn(u128) -> Arrival,
    ) {
        self.first += 1;
        let to = Wallet::new(self.first);
        let quote = self.shop.quote_of(&self.chain.name, (asset, amount), &to, None).await;
        let units = units(&quote);
        let step = step(self, units);
        self.steps.push(step);
        self.cases.push(Case { name, chain: self.place, quote, to, arrival: arrival(units) });
    }

    /// The table: what is sent, and what it becomes.
    async fn prepare(&mut self) {
        let matched = |units| Some((units, "matched", ""));
        let dollars = |token: fn(&DepositChain) -> &str| {
            move |sale: &Self, units| transfer(token(sale.chain), &sale.shop.deposit, units)
        };
        let odd = |name: &'static str| {
            move |sale: &Self, units: u128| {
                call(&named(sale.chain).odd, name, json!([sale.shop.deposit, units.to_string()]))
            }
        };
        let sent = |name: &'static str| {
            move |sale: &Self, wei: u128| {
                let mut step = call(&named(sale.chain).coin_sender, name, json!([sale.shop.deposit]));
                step["wei"] = json!(wei.to_string());
                step
            }
        };
        let symbol = match &*self.chain.name {
            "bsc" => "BNB",
            "polygon" => "POL",
            "avalanche" => "AVAX",
            _ => "ETH",
        };
        self.sell("USDC", ("USDC", "10"), dollars(|chain| &chain.token), matched).await;
        self.sell("USDT", ("USDT", "10"), dollars(|chain| &named(chain).usdt), matched).await;
        self.sell("another token", ("ODD", "10"), dollars(|chain| &named(chain).odd), matched).await;
        let plain = |sale: &Self, wei: u128| json!({ "to": sale.shop.deposit, "wei": wei.to_string() });
        self.sell("coins", (symbol, "0.004"), plain, matched).await;
        let internal = |units| Some((units, "unmatched", INTERNAL));
        self.sell("coins of a contract", (symbol, "0.004"), sent("forward"), internal).await;
        self.sell("coins of a contract that ends", (symbol, "0.004"), sent("bequeath"), internal).await;
        let less = |units| Some((units - units / 100, "unmatched", NO_QUOTE));
        self.sell("less a fee", ("ODD", "10"), odd("sendLessFee"), less).await;
        self.sell("an event alone", ("ODD", "10"), odd("claim"), |units| Some((units, "unmatched", UNTRUE))).await;
        self.sell("unindexed", ("ODD", "10"), odd("sendUnindexed"), |_| None).await;
        self.sell("a collectible", ("ODD", "10"), odd("sendCollectible"), |_| None).await;
        // Where nobody asked for it: the dollar of another issuer.
        self.sell("a look-alike", ("USDC", "10"), dollars(|chain| &chain.look_alike), |_| None).await;
    }
}

async fn is_as_the_table_says(shop: &Shop<'_>, all: &[DepositChain], cases: &[Case]) {
    for case in cases.iter().filter(|case| case.is_paid()) {
        let what = format!("\"{}\" on {} is paid", case.name, all[case.chain].name);
        shop.until(&what, async || shop.state(&case.quote).await["status"] == "paid").await;
    }
    let mut expected: Vec<(String, u128, &str, &str)> = cases
        .iter()
        .filter_map(|case| case.arrival.map(|(units, state, why)| (all[case.chain].name.clone(), units, state, why)))
        .collect();
    expected.sort();
    let rows = "SELECT chain, units, state, coalesce(reason, '') FROM payin_deposits";
    let are_decided = async || {
        let rows = query(&shop.setup, rows).await;
        rows.len() >= expected.len() && rows.iter().all(|row| row[2] != "new")
    };
    shop.until("every deposit is found and decided", are_decided).await;
    let rows = query(&shop.setup, rows).await;
    let mut found: Vec<(String, u128, &str, &str)> =
        rows.iter().map(|row| (row[0].clone(), row[1].parse().unwrap(), row[2].as_str(), reason(&row[3]))).collect();
    found.sort();
    assert_eq!(found, expected);
    for case in cases {
        let state = shop.state(&case.quote).await;
        let (status, coins) =
            if case.is_paid() { ("paid", state["fmxOut"].as_str().unwrap()) } else { ("quoted", "0") };
        assert_eq!((&state["status"], &*shop.coins(&case.to).await), (&json!(status), coins), "{}: {state}", case.name);
    }
}

/// The part of a reason that is the same everywhere.
fn reason(text: &str) -> &str {
    [INTERNAL, UNTRUE].into_iter().find(|known| text.starts_with(*known)).unwrap_or(text)
}

/// A deposit leaves with as many blocks as it may, comes again, is paid, and leaves once more.
async fn leave_and_return(devnet: &Devnet, shops: &[Shop<'_>; 2], chain: &DepositChain) {
    let mut sold = Vec::new();
    for (shop, number) in shops.iter().zip(1_u64..).filter(|(shop, _)| sells_on(shop, chain)) {
        let to = Wallet::new(9_000_000 + 1000 * number + chain.chain_id % 1000);
        sold.push((shop, shop.quote(&chain.name, "20", &to, None).await, to));
    }
    let first = head(devnet, chain).await + 1;
    deposit_all(devnet, chain, &sold).await;
    // The second server sees one block too few for the older of the two.
    mine(devnet, chain, first + chain.confirmations - 2 + LAG - head(devnet, chain).await).await;
    become_all(&sold, "seen").await;
    for (shop, quote, _) in &sold {
        runs_of_scan(shop).await;
        assert_eq!(shop.state(quote).await["status"], "seen", "{}", chain.name);
    }
    devnet.reorganise_at(&chain.anvil_url, head(devnet, chain).await + 1 - first).await.unwrap();
    become_all(&sold, "quoted").await;
    for (shop, quote, to) in &sold {
        assert_eq!(
            (&shop.state(quote).await["txHashIn"], &*shop.coins(to).await),
            (&json!(null), "0"),
            "{}",
            chain.name
        );
    }

    let first = head(devnet, chain).await + 1;
    deposit_all(devnet, chain, &sold).await;
    confirm(devnet, chain).await;
    become_all(&sold, "paid").await;
    devnet.reorganise_at(&chain.anvil_url, head(devnet, chain).await + 1 - first).await.unwrap();
    for (shop, quote, to) in &sold {
        let service = async || shop.site.get("/api/status").await.json()["services"]["payin"].clone();
        let is_paused = async || service().await["chains"][&chain.name]["reason"] == "it is paused";
        shop.until("the chain is paused", is_paused).await;
        let lost = query(&shop.setup, "SELECT chain, quote FROM payin_deposits WHERE lost_at IS NOT NULL").await;
        let of_chain: Vec<&Vec<String>> = lost.iter().filter(|row| row[0] == chain.name).collect();
        assert_eq!(of_chain, [&[chain.name.as_str(), quote["quoteId"].as_str().unwrap()]], "{lost:?}");
        let state = shop.state(quote).await;
        assert_eq!((&state["status"], &*shop.coins(to).await), (&json!("paid"), state["fmxOut"].as_str().unwrap()));
    }
}

/// By the node itself, a block for each: what libraries send is in the table above.
async fn deposit_all(devnet: &Devnet, chain: &DepositChain, sold: &[(&Shop<'_>, Value, Wallet)]) {
    for (shop, quote, _) in sold {
        let units = units(quote).to_string();
        let data = encoded("transfer(address to, uint256 value)", &[&shop.deposit, &units]).unwrap();
        let from = devnet.account(LIBRARIES[0].1).unwrap();
        let transaction = json!({ "from": from, "to": chain.token, "data": data, "gas": GAS });
        let hash: String = devnet.ask_at(&chain.anvil_url, "eth_sendTransaction", json!([transaction])).await.unwrap();
        TestGateway::eventually(LIMIT, "the deposit is in a block", async || {
            let receipt: Value =
                devnet.ask_at(&chain.anvil_url, "eth_getTransactionReceipt", json!([hash])).await.unwrap();
            receipt["status"] == "0x1"
        })
        .await;
    }
}

async fn become_all(sold: &[(&Shop<'_>, Value, Wallet)], status: &str) {
    join_all(sold.iter().map(|(shop, quote, _)| becomes(shop, quote, status))).await;
}

async fn becomes(shop: &Shop<'_>, quote: &Value, status: &str) {
    shop.until(status, async || shop.state(quote).await["status"] == status).await;
}

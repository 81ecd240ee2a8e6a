//! What people, wallets, exchanges and attackers send, by viem, ethers and web3.py. The ledger is what the table below says.

use super::{
    Shop,
    shop::{chains, confirm},
};
use crate::{
    crash::query,
    e2e::{ask, node, python},
    storage::Engine,
};
use futures_util::future::join_all;
use gateway_tests::devnet::{DepositChain, Devnet};
use plugin_testing::{Value, Wallet, json};
use std::{collections::BTreeSet, process::Command};

/// Each with the test key that sends.
pub(super) const LIBRARIES: [(&str, &str); 3] = [("viem", "user2"), ("ethers", "user3"), ("web3.py", "user4")];

/// Why a second deposit, another amount, and what is too early or too late are the operator's.
pub(super) const NO_QUOTE: &str = "no open quote has this amount";
/// What quotes have become when their time is over.
const PAID: &str = "paid";
const EXPIRED: &str = "expired";

/// What each library sends, for all shops: to begin it takes longer than to send.
type Steps = [Vec<Value>; LIBRARIES.len()];

/// What a deposit of these units must have become: its state, and the reason.
type Entry = (u128, &'static str, String);

/// A quote, what was sent for it, and what must come of both.
struct Case {
    name: &'static str,
    quote: Value,
    to: Wallet,
    ends: &'static str,
    deposits: Vec<Entry>,
}

/// One library's cases and steps for one shop.
struct Sale<'s, 'n> {
    shop: &'s Shop<'n>,
    chain: &'s DepositChain,
    payer: &'s str,
    first: u64,
    cases: Vec<Case>,
    steps: Vec<Value>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ledger_is_what_the_table_says_whatever_is_sent() {
    let devnet = Devnet::start_with(&["--payin"]).await.unwrap();
    let opened = tokio::join!(Shop::open(&devnet, Engine::Sqlite), Shop::open(&devnet, Engine::Postgres));
    let shops: [Shop<'_>; 2] = opened.into();
    let [base, bsc] = chains(&devnet) else { panic!("two chains") };
    let mut cases = early(&shops, base).await;
    let (mut steps, mut of_bsc) = (Steps::default(), Vec::new());
    for ((shop, number), cases) in shops.iter().zip(1_u64..).zip(&mut cases) {
        for (((_, key), place), steps) in LIBRARIES.into_iter().zip(1_u64..).zip(&mut steps) {
            let mut sale = Sale::new(shop, base, key, 100_000 * number + 1000 * place);
            sale.prepare().await;
            steps.extend(sale.steps);
            cases.extend(sale.cases);
        }
        let mut sale = Sale::new(shop, bsc, LIBRARIES[0].1, 100_000 * number + 4000);
        sale.exact("18 decimals").await;
        of_bsc.extend(sale.steps);
        cases.extend(sale.cases);
    }
    tokio::join!(send_all(&devnet, base, &steps), send(&devnet, bsc, LIBRARIES[0], &of_bsc));
    for chain in [base, bsc] {
        confirm(&devnet, chain).await;
    }
    let late = quotes_of_late_deposits(&shops, base).await;
    join_all(shops.iter().zip(&cases).map(|(shop, cases)| is_decided_and_paid(shop, cases))).await;
    // Ten minutes and a second after the last quote's end.
    let ends = late.iter().flatten().map(|(quote, _)| quote["expiresAt"].as_i64().unwrap()).max().unwrap();
    let jump = json!([format!("{:#x}", ends + 601)]);
    devnet.ask_at::<Value>(&base.anvil_url, "evm_setNextBlockTimestamp", jump).await.unwrap();
    let mut steps = Steps::default();
    for ((shop, cases), late) in shops.iter().zip(&mut cases).zip(late) {
        for ((quote, to), steps) in late.into_iter().zip(&mut steps) {
            let units = units(&quote);
            steps.push(transfer(&base.token, &shop.deposit, units));
            let deposits = vec![(units, "unmatched", NO_QUOTE.to_owned())];
            cases.push(Case { name: "late", quote, to, ends: EXPIRED, deposits });
        }
    }
    send_all(&devnet, base, &steps).await;
    confirm(&devnet, base).await;
    join_all(shops.iter().zip(&cases).map(|(shop, cases)| is_as_the_table_says(shop, cases))).await;
}

/// Deposits that come before their quotes, which are asked for when the gateway knows of the deposits. By shop.
async fn early(shops: &[Shop<'_>; 2], chain: &DepositChain) -> Vec<Vec<Case>> {
    let amounts = [12_340_001_u128, 12_340_002, 12_340_003];
    let of_all = |units| shops.iter().map(|shop| transfer(&chain.token, &shop.deposit, units)).collect();
    send_all(shops[0].devnet, chain, &amounts.map(of_all)).await;
    let cases = shops.iter().zip(1_u64..).map(async |(shop, number)| {
        let are_left = async || {
            query(&shop.setup, "SELECT units FROM payin_deposits WHERE state = 'unmatched'").await.len()
                == amounts.len()
        };
        shop.until("the operator has the deposits that are too early", are_left).await;
        let mut cases = Vec::new();
        for (units, place) in amounts.into_iter().zip(1_u64..) {
            let to = Wallet::new(100_000 * number + 6000 + place);
            let quote = shop.quote(&chain.name, &format!("12.34000{place}"), &to, None).await;
            assert_eq!(self::units(&quote), units);
            let deposits = vec![(units, "unmatched", NO_QUOTE.to_owned())];
            cases.push(Case { name: "before the quote", quote, to, ends: EXPIRED, deposits });
        }
        cases
    });
    join_all(cases).await
}

/// By shop, one for each library.
async fn quotes_of_late_deposits(shops: &[Shop<'_>; 2], chain: &DepositChain) -> Vec<Vec<(Value, Wallet)>> {
    let mut late = Vec::new();
    for (shop, number) in shops.iter().zip(1_u64..) {
        let mut of_shop = Vec::new();
        for place in 1..=3 {
            let to = Wallet::new(100_000 * number + 5000 + place);
            of_shop.push((shop.quote(&chain.name, "10", &to, None).await, to));
        }
        late.push(of_shop);
    }
    late
}

async fn is_decided_and_paid(shop: &Shop<'_>, cases: &[Case]) {
    for case in cases.iter().filter(|case| case.ends == PAID) {
        shop.until(case.name, async || shop.state(&case.quote).await["status"] == PAID).await;
    }
    let is_decided =
        async || query(&shop.setup, "SELECT state FROM payin_deposits WHERE state = 'new'").await.is_empty();
    shop.until("every deposit is decided", is_decided).await;
    for case in cases.iter().filter(|case| case.ends != PAID) {
        assert_eq!(shop.state(&case.quote).await["status"], "quoted", "{}", case.name);
    }
}

impl<'s, 'n> Sale<'s, 'n> {
    fn new(shop: &'s Shop<'n>, chain: &'s DepositChain, key: &str, first: u64) -> Self {
        let payer = shop.devnet.account(key).unwrap();
        Self { shop, chain, payer, first, cases: Vec::new(), steps: Vec::new() }
    }

    /// A quote of ten dollars with an amount of its own.
    async fn quoted(&mut self, from: Option<&str>) -> (Value, Wallet, u128) {
        self.first += 1;
        let to = Wallet::new(self.first);
        let quote = self.shop.quote(&self.chain.name, "10", &to, from).await;
        let units = units(&quote);
        (quote, to, units)
    }

    async fn exact(&mut self, name: &'static str) {
        let (quote, to, units) = self.quoted(None).await;
        self.steps.push(transfer(&self.chain.token, &self.shop.deposit, units));
        self.cases.push(Case { name, quote, to, ends: PAID, deposits: vec![matched(units)] });
    }

    /// A quote for which only this is sent, and which nobody pays.
    async fn unpaid(&mut self, name: &'static str, step: impl FnOnce(&Self, u128) -> Value) {
        let (quote, to, units) = self.quoted(None).await;
        self.steps.push(step(self, units));
        self.cases.push(Case { name, quote, to, ends: EXPIRED, deposits: Vec::new() });
    }

    /// The table: what is sent, how its quote ends, and what the operator has.
    async fn prepare(&mut self) {
        let (token, deposit, router) = (self.chain.token.clone(), self.shop.deposit.clone(), self.chain.router.clone());
        self.steps.push(call(&token, "approve", json!([router, "1000000000000"])));
        self.exact("exact").await;

        let (quote, to, units) = self.quoted(None).await;
        self.steps.push(call(&router, "move", json!([token, self.payer, deposit, [units.to_string()]])));
        self.cases.push(Case { name: "by a contract", quote, to, ends: PAID, deposits: vec![matched(units)] });

        let (one, other) = (self.quoted(None).await, self.quoted(None).await);
        let both = [one.2.to_string(), other.2.to_string()];
        self.steps.push(call(&router, "move", json!([token, self.payer, deposit, both])));
        for (quote, to, units) in [one, other] {
            let deposits = vec![matched(units)];
            self.cases.push(Case { name: "two in a transaction", quote, to, ends: PAID, deposits });
        }

        let (quote, to, units) = self.quoted(None).await;
        self.steps.push(call(&token, "mint", json!([deposit, units.to_string()])));
        self.cases.push(Case { name: "made for it", quote, to, ends: PAID, deposits: vec![matched(units)] });

        let (quote, to, units) = self.quoted(None).await;
        self.steps.extend([transfer(&token, &deposit, units), transfer(&token, &deposit, units)]);
        let deposits = vec![matched(units), (units, "unmatched", NO_QUOTE.to_owned())];
        self.cases.push(Case { name: "twice", quote, to, ends: PAID, deposits });

        let (quote, to, units) = self.quoted(None).await;
        let more = units + 5_000_000;
        self.steps.push(transfer(&token, &deposit, more));
        let deposits = vec![(more, "unmatched", NO_QUOTE.to_owned())];
        self.cases.push(Case { name: "too much", quote, to, ends: EXPIRED, deposits });

        let other = Wallet::new(77).address().to_owned();
        let (quote, to, units) = self.quoted(Some(&other)).await;
        self.steps.push(transfer(&token, &deposit, units));
        let reason = format!("the quote {} names another payer", quote["quoteId"].as_str().unwrap());
        let deposits = vec![(units, "unmatched", reason)];
        self.cases.push(Case { name: "another payer", quote, to, ends: EXPIRED, deposits });

        // Poisoning: anybody can move nothing from any address, so that its history shows the transfer.
        self.unpaid("of nothing", |sale, _| {
            call(&sale.chain.token, "transferFrom", json!([sale.chain.router, sale.shop.deposit, "0"]))
        })
        .await;
        self.unpaid("a look-alike", |sale, units| transfer(&sale.chain.look_alike, &sale.shop.deposit, units)).await;
        self.unpaid("undone in the transaction", |sale, units| {
            let arguments = json!([sale.chain.token, sale.payer, sale.shop.deposit, units.to_string()]);
            call(&sale.chain.router, "moveAndUndo", arguments)
        })
        .await;
        // Of what the router does not have.
        self.unpaid("failed", |sale, units| {
            let arguments = json!([sale.chain.router, sale.shop.deposit, units.to_string()]);
            call(&sale.chain.token, "transferFrom", arguments)
        })
        .await;
        self.unpaid("coins of the chain", |sale, units| json!({ "to": sale.shop.deposit, "wei": units.to_string() }))
            .await;
    }
}

fn matched(units: u128) -> Entry {
    (units, "matched", String::new())
}

pub(super) fn units(quote: &Value) -> u128 {
    quote["sendExactly"].as_str().unwrap().parse().unwrap()
}

pub(super) fn call(to: &str, name: &str, args: Value) -> Value {
    json!({ "to": to, "name": name, "args": args })
}

pub(super) fn transfer(token: &str, to: &str, units: u128) -> Value {
    call(token, "transfer", json!([to, units.to_string()]))
}

/// Sends with all libraries at a time, each with its own key.
async fn send_all(devnet: &Devnet, chain: &DepositChain, steps: &Steps) {
    let sends = LIBRARIES.into_iter().zip(steps).map(|(library, steps)| send(devnet, chain, library, steps));
    join_all(sends).await;
}

/// Sends the steps with the library, one after the other.
pub(super) async fn send(devnet: &Devnet, chain: &DepositChain, (library, key): (&str, &str), steps: &[Value]) {
    let key = &devnet.key(key).unwrap().private_key;
    let mut client: Command = match library {
        "web3.py" => python("deposits.py"),
        library => {
            let mut client = node("deposits.mjs");
            client.arg(library);
            client
        }
    };
    client.args([chain.rpc_urls[0].as_str(), key]);
    let hashes = ask(client, &json!(steps)).await;
    let hashes: BTreeSet<&str> = hashes.as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
    assert_eq!(hashes.len(), steps.len(), "{library}");
}

async fn is_as_the_table_says(shop: &Shop<'_>, cases: &[Case]) {
    for case in cases {
        let has_ended = async || shop.state(&case.quote).await["status"] == case.ends;
        shop.until(&format!("the quote of \"{}\" is {}", case.name, case.ends), has_ended).await;
        let state = shop.state(&case.quote).await;
        let coins = if case.ends == PAID { state["fmxOut"].as_str().unwrap() } else { "0" };
        assert_eq!(shop.coins(&case.to).await, coins, "{}: {state}", case.name);
    }
    let mut expected: Vec<Entry> = cases.iter().flat_map(|case| case.deposits.clone()).collect();
    expected.sort();
    let rows = "SELECT units, state, coalesce(reason, '') FROM payin_deposits";
    // The last of those that come late may be scanned after their quotes have expired.
    let are_decided = async || {
        let rows = query(&shop.setup, rows).await;
        rows.len() >= expected.len() && rows.iter().all(|row| row[1] != "new")
    };
    shop.until("every deposit is found and decided", are_decided).await;
    let rows = query(&shop.setup, rows).await;
    let mut found: Vec<(u128, &str, String)> =
        rows.iter().map(|row| (row[0].parse().unwrap(), row[1].as_str(), row[2].clone())).collect();
    found.sort();
    assert_eq!(found, expected);
}

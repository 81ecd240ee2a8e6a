//! Thousands of vouchers of many payers, some of them contracts and some dishonest, settled through kills, held pools and
//! reorganisations.
//!
//! The rule that is tested: what the vault has in the end is what the vouchers say, to the wei, and no voucher that was accepted is
//! lost.

use super::{Market, Till, market::number, until, wei};
use crate::{
    crash::{Dice, expire_leases},
    e2e::answer,
};
use alloy::{
    dyn_abi::TypedData,
    primitives::{Address, U256, keccak256},
};
use futures_util::future::join_all;
use gateway_clock::Clock;
use gateway_tests::{devnet::encoded, process::LIMIT};
use plugin_testing::{Value, Wallet, json};
use reqwest::Method;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// Of a voucher, plus its number: no two have the same.
const AMOUNT: u128 = 1_000_000_000_000_000;
/// The vault's share, in ten thousandths.
const FEE_BPS: u128 = 100;
const REF: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";
/// Of vouchers: the longest that a payment may have, but for the way.
const LIFE_S: i64 = 3890;
const REORG_DEPTH: u64 = 3;
/// Vouchers that are sent at the same time, and after which the chain or the gateway is disturbed.
const BURST: usize = 40;
const BATCH: u64 = 50;
/// To settle what is left, and for each voucher: the short test says what waits before nextest ends it.
const END_MAX: Duration = Duration::from_secs(160);
const END_MAX_EACH: Duration = Duration::from_millis(50);
/// One payer in so many is a contract, and one settles another voucher with a nonce himself.
const CONTRACT_EVERY: usize = 5;
const DISHONEST_EVERY: usize = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_hundred_vouchers_are_settled_to_the_wei() {
    settle(200, 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn ten_thousand_vouchers_are_settled_to_the_wei() {
    settle(10_000, 200).await;
}

struct Payer {
    wallet: Wallet,
    /// The wallet's address, or that of the contract that takes its signatures.
    address: Address,
    is_dishonest: bool,
}

/// A voucher that was sent to the gateway.
struct SentVoucher {
    payer: usize,
    nonce: u64,
    amount: u128,
    body: String,
    is_accepted: bool,
    /// Whether the payer settled another one with its nonce, or tried to.
    is_undercut: bool,
}

async fn settle(vouchers: usize, payers: usize) {
    let market = Market::open(&[]).await;
    let adjust = |setup: gateway_tests::process::Setup| {
        let setup = setup.set("plugins.x402.batch_size", BATCH).set("plugins.x402.batch_s", 2);
        setup.set("plugins.x402.credit_max_wei", AMOUNT * 10_000)
    };
    let (tills, dice) = (market.tills(adjust).await, Dice::new());
    let mut runs = Vec::new();
    for (number, till) in (0..).zip(tills) {
        let payers = fund(&market, number, payers, AMOUNT * 2 * (vouchers / payers + 1) as u128).await;
        runs.push(PaymentLoadRun { market: &market, till, payers, dice: dice.fork(number), disturbs: number == 0 });
    }
    market.devnet.mine(2 * REORG_DEPTH).await.unwrap();
    join_all(runs.into_iter().map(|run| run.finish(vouchers))).await;
}

/// Gives each payer of this database a deposit.
async fn fund(market: &Market, database: u64, payers: usize, wei: u128) -> Vec<Payer> {
    let mut funded = Vec::new();
    for number in 0..payers {
        let wallet = Wallet::new(10_000 * (database + 1) + number as u64);
        let own: Address = wallet.address().parse().unwrap();
        let address = if number % CONTRACT_EVERY == 1 { account_of(market, own).await } else { own };
        market.send("user1", "x402Vault", "depositFor(address payer)", &[&address.to_string()], wei).await;
        funded.push(Payer { wallet, address, is_dishonest: number % DISHONEST_EVERY == 2 });
    }
    funded
}

/// A contract of the wallet's, which takes its signatures.
async fn account_of(market: &Market, owner: Address) -> Address {
    let factory = market.devnet.facts.contracts["accountFactory"];
    let arguments = [owner.to_string(), REF.to_owned()];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    market.send("user1", "accountFactory", "create(address owner, bytes32 salt)", &arguments, 0).await;
    let call = json!({ "to": factory, "data": encoded("predict(address owner, bytes32 salt)", &arguments).unwrap() });
    let word = number(&market.devnet.call("eth_call", json!([call, "latest"])).await.unwrap());
    Address::from_word(word.into())
}

struct PaymentLoadRun<'m> {
    market: &'m Market,
    till: Till,
    payers: Vec<Payer>,
    dice: Dice,
    /// Whether it is the one that changes the chain, which all runs share.
    disturbs: bool,
}

impl PaymentLoadRun<'_> {
    async fn finish(mut self, vouchers: usize) {
        let block = self.market.devnet.head().await.unwrap();
        let is_read = async || {
            let rpc = self.till.get("/api/status").await["services"]["rpc"].clone();
            rpc["head"].as_u64().is_some_and(|head| head >= block)
        };
        until("the blocks of the deposits are read", is_read).await;
        let supported = self.till.get("/api/x402/supported").await;
        let mut sent: Vec<SentVoucher> = (0..vouchers).map(|number| self.voucher(&supported, number)).collect();
        for burst in sent.chunks_mut(BURST) {
            self.send(burst).await;
            self.undercut(&supported, burst).await;
            self.disturb().await;
            // Who lost the answer sends it again.
            self.send(burst).await;
        }
        self.market.devnet.honest().await.unwrap();
        self.is_decided(vouchers).await;
        self.compare(&sent).await;
    }

    fn voucher(&self, supported: &Value, number: usize) -> SentVoucher {
        let (payer, nonce, amount) = (number % self.payers.len(), number as u64 + 1, AMOUNT + number as u128);
        let of = &self.payers[payer];
        let (voucher, signature) = signed(supported, of, self.payee(number), amount, nonce);
        let requirements = json!({ "payTo": self.payee(number), "maxAmountRequired": amount.to_string() });
        let payment = json!({ "voucher": voucher, "signature": signature });
        let body = json!({ "paymentPayload": payment, "paymentRequirements": requirements }).to_string();
        SentVoucher { payer, nonce, amount, body, is_accepted: false, is_undercut: false }
    }

    async fn send(&self, burst: &mut [SentVoucher]) {
        let open: Vec<&mut SentVoucher> = burst.iter_mut().filter(|voucher| !voucher.is_accepted).collect();
        join_all(open.into_iter().map(async |voucher| {
            let settled = self.settle(&voucher.body).await;
            // One that is known already was accepted before its answer got lost.
            let is_known = settled["errorReason"].as_str().is_some_and(|why| why.contains("its voucher is"));
            voucher.is_accepted = settled["success"] == true || is_known;
            assert!(voucher.is_accepted || voucher.is_undercut || self.payers[voucher.payer].is_dishonest, "{settled}");
        }))
        .await;
    }

    /// What the facilitator says of a voucher, when it can say something: a gateway that starts has to read the chain first.
    async fn settle(&self, body: &str) -> Value {
        let begun = Instant::now();
        loop {
            let settled = answer(self.till.request(Method::POST, "/api/x402/settle", None).body(body.to_owned())).await;
            assert_eq!(settled.status, 200, "{}", settled.text());
            let settled = settled.json();
            if settled["disabled"] != true || begun.elapsed() > LIMIT {
                return settled;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Dishonest payers settle another voucher with the same nonce, to themselves, before the batch comes.
    async fn undercut(&mut self, supported: &Value, burst: &mut [SentVoucher]) {
        for voucher in burst.iter_mut() {
            let payer = &self.payers[voucher.payer];
            if !payer.is_dishonest || self.dice.below(3) > 0 {
                continue;
            }
            let (other, signature) = signed(supported, payer, payer.address, voucher.amount, voucher.nonce);
            let text = |member: &str| other[member].as_str().unwrap().to_owned();
            let tuple = ["payer", "payee", "amount", "nonce", "expiry", "ref"].map(text).join(",");
            let function = "settle((address,address,uint256,uint256,uint64,bytes32),bytes)";
            // The vault refuses it when the batch was faster, and the node while an earlier one is held.
            let arguments = [format!("({tuple})"), signature];
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let sender = if self.disturbs { "user8" } else { "user9" };
            let sent = self.market.devnet.send(sender, "x402Vault", function, &arguments, 0).await;
            voucher.is_undercut = sent.is_ok();
        }
    }

    async fn disturb(&mut self) {
        if self.dice.below(3) == 0 {
            self.till.gateway.kill().await.unwrap();
            expire_leases(&self.till.setup).await;
            self.till.start_again().await;
        }
        if !self.disturbs {
            return;
        }
        let devnet = &self.market.devnet;
        match self.dice.below(5) {
            0 => {
                let depth = 1 + self.dice.below(REORG_DEPTH);
                devnet.reorganise(depth).await.unwrap();
            }
            1 => drop(devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap()),
            2 => {
                let rules = json!({ "tip": { "minWei": 3_000_000_000_u64.to_string(), "underpriced": "hold" } });
                devnet.control(rules).await.unwrap();
            }
            3 => devnet.honest().await.unwrap(),
            _ => devnet.mine(1).await.unwrap(),
        }
    }

    /// Waits until nothing is on its way. Blocks come meanwhile, as on a real chain: a transaction that was held is replaced when two
    /// blocks have passed without it, and this chain mines only for a transaction.
    async fn is_decided(&self, vouchers: usize) {
        let (begun, limit) = (Instant::now(), END_MAX + END_MAX_EACH * u32::try_from(vouchers).unwrap());
        for payer in &self.payers {
            let path = payer.address.to_string();
            while self.till.account(&path).await["pendingWei"] != "0" {
                assert!(begun.elapsed() < limit, "{}: {:?}", self.till.account(&path).await, self.unsettled().await);
                self.market.devnet.mine(1).await.unwrap();
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }

    /// What waits, for the message of a test that gives up: each transaction's state and why it is in no block.
    async fn unsettled(&self) -> Vec<Vec<String>> {
        let open = "SELECT state, COALESCE(reason, '') FROM host_tx_intents WHERE state NOT IN ('final', 'failed')";
        self.till.rows(open).await
    }

    async fn compare(self, sent: &[SentVoucher]) {
        let ours: BTreeMap<String, usize> =
            self.payers.iter().enumerate().map(|(index, payer)| (payer.address.to_string(), index)).collect();
        // By payer and nonce: to whom, and how much.
        let mut settled: BTreeMap<(usize, u64), (Address, U256)> = BTreeMap::new();
        for row in self.till.rows("SELECT payer, nonce, payee, amount FROM x402_settled").await {
            let Some(payer) = ours.get(&row[0]) else { continue };
            let before =
                settled.insert((*payer, row[1].parse().unwrap()), (row[2].parse().unwrap(), row[3].parse().unwrap()));
            assert_eq!(before, None, "a nonce is settled once: {row:?}");
        }
        let known: BTreeSet<(usize, u64)> = sent.iter().map(|voucher| (voucher.payer, voucher.nonce)).collect();
        assert!(settled.keys().all(|voucher| known.contains(voucher)), "nobody is charged for what he did not sign");
        for voucher in sent {
            let payer = &self.payers[voucher.payer];
            let case = format!("voucher {} of {}", voucher.nonce, payer.address);
            match settled.get(&(voucher.payer, voucher.nonce)) {
                Some((to, amount)) => {
                    let number = usize::try_from(voucher.nonce).unwrap() - 1;
                    let is_own = *to == self.payee(number);
                    assert!(is_own || voucher.is_undercut && *to == payer.address, "{case} was paid to {to}");
                    assert_eq!(*amount, wei(voucher.amount), "{case}");
                }
                None => assert!(!voucher.is_accepted || payer.is_dishonest, "{case} was accepted and is lost"),
            }
        }
        let (accepted, undercut) = sent.iter().fold((0, 0), |(accepted, undercut), voucher| {
            (accepted + u32::from(voucher.is_accepted), undercut + u32::from(voucher.is_undercut))
        });
        eprintln!("{accepted} accepted, {} settled, {undercut} by their payers", settled.len());
        for (index, payer) in self.payers.iter().enumerate() {
            let spent = settled.iter().filter(|((of, _), _)| *of == index);
            let spent = spent.fold(U256::ZERO, |sum, (_, (_, amount))| sum + amount);
            let deposit = wei(AMOUNT * 2 * (sent.len() / self.payers.len() + 1) as u128);
            let has =
                async || self.market.vault("balance(address)", &[&payer.address.to_string()]).await == deposit - spent;
            until("the vault has what the ledger says", has).await;
        }
        self.pays_what_was_settled(&settled).await;
    }

    /// Each payee has what was settled to him, less the vault's share. Each database has payees of its own.
    async fn pays_what_was_settled(&self, settled: &BTreeMap<(usize, u64), (Address, U256)>) {
        let mut net: BTreeMap<Address, U256> = BTreeMap::new();
        for (payee, amount) in settled.values() {
            *net.entry(*payee).or_default() += *amount - *amount * wei(FEE_BPS) / wei(10_000);
        }
        assert!(!net.is_empty());
        for (payee, net) in net {
            assert_eq!(self.market.vault("credits(address)", &[&payee.to_string()]).await, net, "what {payee} got");
        }
    }

    /// Of the voucher with this number.
    fn payee(&self, number: usize) -> Address {
        Address::from_word(keccak256(format!("payee {} of {}", number % 5, self.till.facilitator)))
    }
}

/// A voucher with its signature, by what the gateway publishes about vouchers.
fn signed(supported: &Value, payer: &Payer, payee: Address, amount: u128, nonce: u64) -> (Value, String) {
    let expiry_s = Clock::System.now_s() + LIFE_S;
    let voucher = json!({
        "payer": payer.address, "payee": payee, "amount": amount.to_string(), "nonce": nonce.to_string(),
        "expiry": expiry_s.to_string(), "ref": REF,
    });
    let (domain, types) = (&supported["domain"], &supported["types"]);
    let typed = json!({ "domain": domain, "types": types, "primaryType": "Voucher", "message": voucher });
    let digest = serde_json::from_value::<TypedData>(typed).unwrap().eip712_signing_hash().unwrap();
    let mut key = [0; 32];
    hex::decode_to_slice(payer.wallet.key_text(), &mut key).unwrap();
    let (_, signature) = request_signing::sign(&key, |_| digest.0).unwrap();
    (voucher, signature)
}

//! A gateway that sells coins on the chains of a dev network.

use crate::{
    crash::{execute, expire_leases, query},
    e2e::{Site, setup_on_devnet},
    storage::Engine,
};
use gateway_tests::{
    devnet::{DepositChain, Devnet},
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::{Duration, Instant};

/// Blocks of the main chain after which a payout is final.
const FINAL_DEPTH: u64 = 8;
/// Until something that takes several runs of jobs has come about.
const END: Duration = Duration::from_secs(150);
/// How often a gateway asks each server for its head. Most of a test is waiting for jobs.
const MAIN_POLL_MS: u64 = 200;
const POLL_MS: u64 = 250;
/// Between two looks at what a test waits for, in which the main chain grows.
const PAUSE: Duration = Duration::from_millis(500);
const BLOCKS: u64 = 2;
/// 1,000 coins, and nearly all that a test key has.
const PAYOUT_MAX: &str = "1000000000000000000000";
const DAY_MAX: &str = "900000000000000000000000";

pub struct Shop<'n> {
    pub devnet: &'n Devnet,
    pub setup: Setup,
    pub gateway: GatewayProcess,
    pub site: Site,
    /// Where deposits go: gateways on one chain must not have the same.
    pub deposit: String,
    /// Where it sells.
    pub chains: Vec<&'n DepositChain>,
}

impl<'n> Shop<'n> {
    pub async fn open(devnet: &'n Devnet, engine: Engine) -> Self {
        Self::open_with(devnet, engine, &["payin"], chains(devnet).iter().collect(), |setup| setup).await
    }

    /// With more plugins and settings, on some of the chains.
    pub async fn open_with(
        devnet: &'n Devnet,
        engine: Engine,
        plugins: &[&str],
        chains: Vec<&'n DepositChain>,
        adjust: impl FnOnce(Setup) -> Setup,
    ) -> Self {
        let (payer, number) = match engine {
            Engine::Sqlite => ("payin", 41_001),
            Engine::Postgres => ("oracle", 41_002),
        };
        let deposit = Wallet::new(number).address().to_owned();
        let setup = setup_on_devnet(devnet, engine, plugins, ("payin", payer)).await;
        let setup = setup
            .set("plugins.payin.enabled", true)
            .set("plugins.payin.price_usd", "\"0.05\"")
            .set("plugins.payin.payout_max_wei", PAYOUT_MAX)
            .set("plugins.payin.hour_max_wei", DAY_MAX)
            .set("plugins.payin.day_max_wei", DAY_MAX)
            .set("plugins.payin.open_per_network", 100_000)
            .set("limits.per_ip_per_minute", 100_000)
            .set("chains.main.reorg_depth", FINAL_DEPTH)
            .set("chains.main.poll_ms", MAIN_POLL_MS);
        let setup = chains.iter().fold(setup, |setup, chain| with_chain(setup, chain, &deposit));
        let setup = adjust(setup);
        let gateway = setup.start().await.unwrap();
        Self { devnet, site: Site::of(&gateway), setup, gateway, deposit, chains }.scanned().await
    }

    async fn scanned(self) -> Self {
        let is_scanned = async || {
            let assets = self.site.get("/api/payin/assets").await.json();
            assets["availableChains"].as_array().unwrap().len() >= self.chains.len()
        };
        self.until("the chains are scanned", is_scanned).await;
        self
    }

    /// Starts it again after its end, without waiting for what the dead process held, nor for the times of its jobs.
    pub async fn start_again(&mut self) {
        expire_leases(&self.setup).await;
        hasten(&self.setup).await;
        self.gateway = self.setup.start().await.unwrap();
        self.site = Site::of(&self.gateway);
    }

    /// Waits, while the main chain grows and jobs do not wait for their times.
    pub async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let begun = Instant::now();
        while !holds().await {
            assert!(begun.elapsed() < END, "{what}: {:?}", self.rows().await);
            hasten(&self.setup).await;
            self.devnet.mine(BLOCKS).await.unwrap();
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Quotes and deposits, for people.
    async fn rows(&self) -> Vec<Vec<String>> {
        let quotes = "SELECT id, status, coalesce(error, '') FROM payin_quotes WHERE status <> 'paid'";
        let deposits = "SELECT units, state, coalesce(reason, '') FROM payin_deposits WHERE state <> 'matched'";
        [query(&self.setup, quotes).await, query(&self.setup, deposits).await].concat()
    }

    pub async fn quote(&self, chain: &str, amount: &str, to: &Wallet, from: Option<&str>) -> Value {
        self.quote_of(chain, ("USDC", amount), to, from).await
    }

    pub async fn quote_of(&self, chain: &str, (asset, amount): (&str, &str), to: &Wallet, from: Option<&str>) -> Value {
        let body = json!({ "chain": chain, "asset": asset, "amount": amount, "to": to.address(), "from": from });
        let quote = std::cell::RefCell::new(Value::Null);
        TestGateway::eventually(LIMIT, "a quote is given", async || {
            let answer = self.site.post("/api/payin/quote", &body).await;
            // A gateway that has just started may not know the chains' heads yet.
            assert!(matches!(answer.status, 201 | 429 | 503), "{}", answer.text());
            quote.replace(answer.json());
            tokio::time::sleep(Duration::from_millis(20)).await;
            answer.status == 201
        })
        .await;
        quote.into_inner()
    }

    pub async fn state(&self, quote: &Value) -> Value {
        self.site.get(&format!("/api/payin/{}", quote["quoteId"].as_str().unwrap())).await.json()
    }

    /// What an address has on the main chain.
    pub async fn coins(&self, of: &Wallet) -> String {
        self.devnet.number("eth_getBalance", json!([of.address(), "latest"])).await.unwrap().to_string()
    }
}

/// Has the jobs run soon that do not run now, and those that were told to wait. Jobs are looked at every five seconds.
pub async fn hasten(setup: &Setup) {
    let due = "UPDATE host_job_runs SET next_run_ms = 1 WHERE plugin = 'payin' AND (lease_holder IS NULL OR lease_until_ms = 0); \
         UPDATE payin_quotes SET retry_at = 0 WHERE retry_at > 0";
    execute(setup, due.to_owned()).await;
}

/// The chains of deposits.
pub fn chains(devnet: &Devnet) -> &[DepositChain] {
    devnet.facts.payin.as_deref().expect("the dev network has the option --payin")
}

fn with_chain(setup: Setup, chain: &DepositChain, deposit: &str) -> Setup {
    let DepositChain { name, chain_id, decimals, rpc_urls, confirmations, token, named, .. } = chain;
    let taken = format!("plugins.payin.chains.{name}");
    let setup = setup
        .set(&format!("chains.{name}.rpc"), rpc_urls.join(","))
        .set(&format!("chains.{name}.chain_id"), chain_id)
        .set(&format!("chains.{name}.poll_ms"), POLL_MS)
        .set(&format!("{taken}.deposit"), deposit);
    if let Some(named) = named {
        // Its id, confirmations, USDC and USDT are known.
        return setup
            .set(&format!("{taken}.native.feed.address"), &named.feed)
            .set(&format!("{taken}.tokens.odd.address"), &named.odd)
            .set(&format!("{taken}.tokens.odd.decimals"), 6);
    }
    setup
        .set(&format!("{taken}.chain_id"), chain_id)
        .set(&format!("{taken}.confirmations"), confirmations)
        .set(&format!("{taken}.tokens.usdc.address"), token)
        .set(&format!("{taken}.tokens.usdc.decimals"), decimals)
}

/// Mines as many blocks as a deposit needs.
pub async fn confirm(devnet: &Devnet, chain: &DepositChain) {
    let blocks = format!("{:#x}", chain.confirmations + 1);
    devnet.ask_at::<Value>(&chain.anvil_url, "anvil_mine", json!([blocks])).await.unwrap();
}

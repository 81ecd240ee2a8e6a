//! Pay-in in a gateway, on each database, with a scripted main chain and a scripted chain of deposits behind two servers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::large_futures, reason = "tests")]

mod colliding;
mod create_quote;
mod deposit_address;
mod depths;
mod get_assets;
mod get_market;
mod get_quote;
mod isolation;
mod late_deposits;
mod list_addresses;
mod list_deposits;
mod many_addresses;
mod matching;
mod native;
mod old_state;
mod one_chain;
mod open_value;
mod pause_payin;
mod payouts;
mod prices;
mod reorganisation;
mod replicas;
mod resolve_deposit;
mod restored;
mod servers;

use plugin_api::Address;
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, ScriptedTx, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
/// Number of the wallet with the key of the role payin.
const PAYIN: u64 = 902;
/// Blocks of the main chain after which one is final.
const DEPTH: u64 = 4;
/// Blocks of the chain of deposits until one counts.
const CONFIRMATIONS: u64 = 3;
const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";
/// Name of the contract of the token, which has 6 decimals.
const TOKEN: &str = "usdx";
const CHAIN_ID: u64 = 31337;
const ASKED_AGAIN_MAX: usize = 100;
/// Of gateways on one database.
const SECRETS_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

/// A gateway, its main chain, and two servers of the chain of deposits.
struct Site {
    gateway: TestGateway,
    main: ScriptedChain,
    dev: ScriptedChain,
    second: ScriptedChain,
}

fn deposit_address() -> Address {
    Wallet::new(950).address().parse().unwrap()
}

fn operator() -> Wallet {
    Wallet::new(99)
}

/// Who buys.
fn buyer() -> Wallet {
    Wallet::new(11)
}

/// One coin is 0.05 USD: 10 USDX buy 196 coins.
fn selling() -> Value {
    json!({
        "price_usd": "0.05",
        "payout_max_wei": "1000000000000000000000",
        "hour_max_wei": "2000000000000000000000",
        "day_max_wei": "3000000000000000000000",
        "operators": [operator().address()],
        "chains": { "dev": {
            "deposit": deposit_address(), "confirmations": CONFIRMATIONS, "chain_id": CHAIN_ID, "name": "Dev",
            "explorer": "https://explorer.example/",
            "tokens": { "USDX": { "address": ScriptedChain::address_of(TOKEN), "decimals": 6 } },
        } },
    })
}

struct Chains {
    main: ScriptedChain,
    dev: ScriptedChain,
    second: ScriptedChain,
}

impl Chains {
    async fn start() -> Self {
        let main = ScriptedChain::start().await;
        main.mine_empty(3);
        main.set_balance(Wallet::new(PAYIN).address().parse().unwrap(), "1000000000000000000000000");
        let dev = ScriptedChain::with_id(CHAIN_ID).await;
        dev.set_token(ScriptedChain::address_of(TOKEN), 0);
        set_decimals(&dev, ScriptedChain::address_of(TOKEN), 6);
        dev.mine_empty(10);
        let second = dev.another_server().await;
        Self { main, dev, second }
    }

    fn prepared(&self, builder: Builder, config: &Value) -> Builder {
        let builder = builder.plugin(payin::plugin_module()).config("payin", config.clone());
        let builder = builder.chain(&self.main, &[]).chain_named("dev", &self.dev, &[]).signer("payin", PAYIN);
        builder.configure(|config| {
            config.limits.write_interval_ms = 0;
            // The bridge of the reference price.
            config.egress.allow_hosts = vec!["127.0.0.1".to_owned()];
            config.secrets.key = Some(SECRETS_KEY.to_owned().into());
            let main = config.chains.get_mut("main").unwrap();
            (main.confirmations, main.reorg_depth) = (2, DEPTH);
            config.chains.get_mut("dev").unwrap().rpc.push(self.second.url().into());
        })
    }

    async fn site(self, builder: Builder, config: &Value) -> Site {
        let gateway = self.prepared(builder, config).start().await;
        let Self { main, dev, second } = self;
        let site = Site { gateway, main, dev, second };
        site.until("deposits are scanned", async || site.assets().await["chains"][0]["available"] == true).await;
        site
    }
}

/// A site on each database, one after the other.
async fn each(config: Value, test: impl AsyncFn(Site) -> Site) {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let site = Chains::start().await.site(builder, &config).await;
        test(site).await.close().await;
    }
}

/// What the contract of a token says.
fn set_decimals(chain: &ScriptedChain, token: Address, decimals: u8) {
    chain.mock_call(token, "decimals() returns (uint256)", &[json!(decimals)]);
}

/// A transfer of the token.
fn transfer(from: &Wallet, to: Address, units: &str) -> ScriptedLog {
    ScriptedLog::new(TOKEN, TRANSFER, &[json!(from.address()), json!(to), json!(units)])
}

impl Site {
    async fn assets(&self) -> Value {
        let response = self.gateway.get("/api/payin/assets").await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    async fn ask(&self, body: Value) -> TestResponse {
        let headers = [("content-type", "application/json")];
        self.gateway.send("POST", "/api/payin/quote", &headers, body.to_string()).await
    }

    /// A quote for this recipient. What a leap of the clock cut off counts as a server's failure, and is asked again.
    async fn quote_for(&self, to: &Wallet, amount: &str) -> Value {
        let body = json!({ "chain": "dev", "asset": "usdx", "amount": amount, "to": to.address() });
        let mut response = self.ask(body.clone()).await;
        for _ in 0..ASKED_AGAIN_MAX {
            if response.status != 503 || !response.text().contains("servers do not answer") {
                break;
            }
            self.gateway.clock().advance(Duration::from_secs(1)).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            response = self.ask(body.clone()).await;
        }
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()
    }

    async fn quote(&self, amount: &str) -> Value {
        self.quote_for(&buyer(), amount).await
    }

    async fn state(&self, quote: &Value) -> Value {
        let response = self.gateway.get(&format!("/api/payin/{}", quote["quoteId"].as_str().unwrap())).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    /// Sends what a quote asks for; the transfer is in the newest block.
    fn deposit(&self, quote: &Value) -> ScriptedLog {
        let log = transfer(&buyer(), deposit_address(), quote["sendExactly"].as_str().unwrap());
        self.dev.mine(vec![log]);
        self.dev.logs().pop().unwrap().1
    }

    /// Lets time pass until the quote has this status.
    async fn becomes(&self, quote: &Value, status: &str) -> Value {
        let has = async || self.state(quote).await["status"] == status;
        self.until(&format!("the quote is {status}"), has).await;
        self.state(quote).await
    }

    /// Mines confirmations of the deposit, and lets time pass until the transfer of coins waits to be mined.
    async fn pays(&self, quote: &Value) -> ScriptedTx {
        self.dev.mine_empty(CONFIRMATIONS);
        self.becomes(quote, "confirmed").await;
        let to = quote["to"].as_str().unwrap().to_owned();
        let sent = || self.main.waiting().into_iter().find(|tx| tx.to.to_string() == to);
        self.until("coins are sent", async || sent().is_some()).await;
        sent().unwrap()
    }

    /// Mines the transfer of coins, until it is final.
    async fn paid(&self, quote: &Value) -> Value {
        self.main.mine_empty(2 + DEPTH);
        self.becomes(quote, "paid").await
    }

    /// What an address got on the main chain.
    fn coins_of(&self, wallet: &Wallet) -> Vec<String> {
        let mined = self.main.mined().into_iter().filter(|tx| tx.to.to_string() == wallet.address());
        mined.map(|tx| tx.value.to_string()).collect()
    }

    /// Deposits that an operator sees.
    async fn deposits(&self, state: &str) -> Vec<Value> {
        let operator = operator();
        let headers = operator.signed_headers("payin.deposits", self.gateway.now_s(), "{}");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = format!("/api/payin/deposits?state={state}");
        let response = self.gateway.send("GET", &path, &headers, "").await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()["items"].as_array().unwrap().clone()
    }

    async fn operate(&self, wallet: &Wallet, what: &str, action: &str, payload: Value) -> TestResponse {
        self.gateway.clock().advance(Duration::from_secs(1)).await;
        self.gateway.post_signed(&format!("/api/payin/{what}"), wallet, action, payload).await
    }

    async fn pause(&self, payload: Value) {
        let response = self.operate(&operator(), "pause", "payin.pause", payload).await;
        assert_eq!(response.status, 200, "{}", response.text());
    }

    async fn service(&self) -> Value {
        self.gateway.collect("status", &json!({})).await["payin"]["payin"].clone()
    }

    /// Lets a run of a job begin and end.
    async fn after_run(&self, job: &str) {
        let before = self.runs(job).await;
        self.until("the job runs twice", async || self.runs(job).await >= before + 2).await;
    }

    /// How often a job has run.
    async fn runs(&self, job: &str) -> i64 {
        let rows = format!("SELECT runs FROM host_job_runs WHERE plugin = 'payin' AND job = '{job}'");
        let rows = self.gateway.rows(&rows).await;
        let digits = rows.first().map(|row| row.replace(|character: char| !character.is_ascii_digit(), ""));
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Lets time pass until a condition holds.
    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let waits = async {
            while !holds().await {
                self.gateway.clock().advance(Duration::from_secs(5)).await;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let in_time = tokio::time::timeout(MINUTE, waits).await;
        let quotes = self.gateway.rows("SELECT id, status, error FROM payin_quotes").await;
        let deposits = self.gateway.rows("SELECT id, state, reason FROM payin_deposits").await;
        let scans = self.gateway.rows("SELECT scanned_to, last_error FROM payin_scans").await;
        assert!(in_time.is_ok(), "{what}: not within {MINUTE:?}\n{quotes:#?}\n{deposits:#?}\n{scans:#?}");
    }

    async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    /// Restarts with another section `[plugins.payin]`.
    async fn restart_with(self, change: impl FnOnce(&mut Value)) -> Self {
        let Self { gateway, main, dev, second } = self;
        let gateway = gateway.restart_after(|config| {
            let section = config.plugins.sections.get_mut("payin").unwrap();
            let mut settings = Value::Object(std::mem::take(&mut section.config));
            change(&mut settings);
            section.config = settings.as_object().unwrap().clone();
        });
        Self { gateway: gateway.await, main, dev, second }
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

#[track_caller]
fn assert_refused(response: &TestResponse, status: u16, code: &str) {
    assert_eq!((response.status, &response.json()["code"]), (status, &json!(code)), "{}", response.text());
}

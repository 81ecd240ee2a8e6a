//! The scan of a chain for deposits, beside its bare requests, and what a deposit costs among very many open quotes.

use super::WITHOUT_LIMITS;
use crate::{
    bench::{Bench, FORUM, keep_forum},
    load::{self, connection::Connection as Client},
    server::{Server, Site},
};
use anyhow::{Context as _, Result, ensure};
use plugin_testing::{ScriptedCall, ScriptedChain, ScriptedLog, Wallet, json};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    fs,
    net::SocketAddr,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";
const TOKEN: &str = "usdx";
const CHAIN_ID: u64 = 31337;
const CONFIRMATIONS: u64 = 3;
/// Numbers of wallets: with the key of the role payin, of the deposit address, and of the first buyer.
const PAYIN: u64 = 902;
const DEPOSIT: u64 = 950;
const BUYERS: u64 = 1 << 41;
/// Blocks are a tenth of the rows of `growth`, one transfer in ten of them, and as many quotes.
const BLOCKS_PART: u64 = 10;
const TRANSFERS_PART: u64 = 10;
/// Deposits that are matched.
const MATCHED: i64 = 200;
const LIMIT: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(5);
const SCAN_GOAL: f64 = 1.5;
const MATCH_GOAL_MS: f64 = 1.0;

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let runtime = Runtime::new()?;
    let site = DepositChains::start(&runtime);
    let first = site.gateway(bench, None)?;
    site.until_available(&first)?;
    let file = bench.folder().join("deposits.db");
    drop(keep_forum(first, &file)?);
    Ok(vec![site.scan(bench, &runtime, &file)?, site.matching(bench, &file)?])
}

/// The service's chain, and two servers of the chain of deposits.
struct DepositChains {
    main: ScriptedChain,
    dev: ScriptedChain,
    second: ScriptedChain,
}

impl DepositChains {
    fn start(runtime: &Runtime) -> Self {
        runtime.block_on(async {
            let main = ScriptedChain::start().await;
            main.mine_empty(3);
            let payin = Wallet::new(PAYIN).address().parse().unwrap_or_default();
            main.set_balance(payin, "1000000000000000000000000");
            let dev = ScriptedChain::with_id(CHAIN_ID).await;
            let token = ScriptedChain::address_of(TOKEN);
            dev.set_token(token, 0);
            dev.mock_call(token, "decimals() returns (uint256)", &[json!(6)]);
            dev.mine_empty(10);
            let second = dev.another_server().await;
            Self { main, dev, second }
        })
    }

    fn gateway(&self, bench: &Bench, file: Option<&PathBuf>) -> Result<Server> {
        let site = Site::new()?;
        let database = site.folder.path().join(FORUM);
        if let Some(file) = file {
            fs::copy(file, &database)?;
        }
        // Tables in tables, which the environment cannot say.
        let config = site.folder.path().join("config");
        fs::create_dir(&config)?;
        fs::write(config.join("gateway.toml"), self.config())?;
        let key = Wallet::new(PAYIN).key_text();
        let settings = [
            ("chains.main.rpc", self.main.url()),
            ("signers.payin.key", format!("0x{}", key.trim_start_matches("0x"))),
            ("egress.allow_hosts", "127.0.0.1".to_owned()),
        ];
        let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
        bench.gateway_in(site, &[settings.as_slice(), &[WITHOUT_LIMITS]].concat())
    }

    fn config(&self) -> String {
        let (deposit, token) = (Wallet::new(DEPOSIT), ScriptedChain::address_of(TOKEN));
        let (rpc, many) = (format!("[\"{}\", \"{}\"]", self.dev.url(), self.second.url()), 1_000_000_000);
        let coins = format!("\"{many}000000000000000000\"");
        format!(
            "[chains.dev]\nchain_id = {CHAIN_ID}\nrpc = {rpc}\n\
             [plugins.payin]\nenabled = true\nprice_usd = \"0.05\"\n\
             payout_max_wei = {coins}\nhour_max_wei = {coins}\nday_max_wei = {coins}\n\
             open_per_network = 100000\nopen_usd_max = {many}\nopen_usd_per_network = {many}\n\
             [plugins.payin.chains.dev]\nchain_id = {CHAIN_ID}\nname = \"Dev\"\nconfirmations = {CONFIRMATIONS}\ndeposit = \"{}\"\n\
             [plugins.payin.chains.dev.tokens]\nUSDX = {{ address = \"{token}\", decimals = 6, exact = true }}\n",
            deposit.address()
        )
    }

    fn until_available(&self, gateway: &Server) -> Result<()> {
        until("deposits are scanned", gateway, || {
            let (status, _, body) = load::ask(gateway.address(), &load::get(gateway.address(), "/api/payin/assets"))?;
            ensure!(status == 200, "/api/payin/assets: {status} {}", String::from_utf8_lossy(&body));
            let assets: Value = serde_json::from_slice(&body)?;
            Ok(assets["chains"][0]["available"] == true)
        })
    }

    fn scan(&self, bench: &Bench, runtime: &Runtime, file: &PathBuf) -> Result<String> {
        let blocks = (bench.scale.growth / BLOCKS_PART).max(20);
        let transfers = blocks / TRANSFERS_PART;
        println!("  {blocks} blocks, {transfers} transfers");
        for number in 1..=transfers {
            self.dev.mine(vec![self.transfer(&(1_000_000 + number).to_string())]);
            self.dev.mine_empty(TRANSFERS_PART - 1);
        }
        let gateway = self.gateway(bench, Some(file))?;
        let database = Connection::open(gateway.folder().join(FORUM))?;
        let scanned = || -> Result<i64> {
            Ok(database.query_row("SELECT scanned_to FROM payin_scans WHERE chain = 'dev'", [], |row| row.get(0))?)
        };
        let stood_at = scanned()?;
        until("the scan begins", &gateway, || Ok(scanned()? > stood_at))?;
        let (begun, first, calls) = (Instant::now(), scanned()?, [self.dev.calls().len(), self.second.calls().len()]);
        until("the scan ends", &gateway, || Ok(scanned()? >= self.dev.head().cast_signed()))?;
        let (took, last) = (begun.elapsed(), scanned()?);
        let made = [self.dev.calls().split_off(calls[0]), self.second.calls().split_off(calls[1])];
        drop(gateway);
        let requests = made.iter().map(Vec::len).sum::<usize>();
        let bare = self.repeat(runtime, &made)?;
        let ratio = took.as_secs_f64() / bare.as_secs_f64();
        let reached = if ratio <= SCAN_GOAL { "reached" } else { "**missed**" };
        Ok(format!(
            "## A scan for deposits\n\nThe plugin `payin` has {} blocks of a chain to scan, with a transfer in one block of {TRANSFERS_PART}, \
             from two servers that must agree; beside it the same {requests} requests, sent to both servers at once, one after the other each, \
             and read as JSON. Goal: {SCAN_GOAL} × the bare requests, {reached}.\n\n| | ms | |\n|---|---:|---:|\n\
             | gateway | {:.0} | {ratio:.2} |\n| the requests alone | {:.0} | 1.00 |\n",
            last - first,
            took.as_secs_f64() * 1e3,
            bare.as_secs_f64() * 1e3,
        ))
    }

    /// The time for the same requests, on one connection to each server.
    fn repeat(&self, runtime: &Runtime, calls: &[Vec<ScriptedCall>; 2]) -> Result<Duration> {
        let begun = Instant::now();
        runtime.block_on(async {
            tokio::try_join!(repeat(&self.dev, &calls[0]), repeat(&self.second, &calls[1])).map(drop)
        })?;
        Ok(begun.elapsed())
    }

    fn matching(&self, bench: &Bench, file: &PathBuf) -> Result<String> {
        let quotes = i64::try_from(bench.scale.growth / BLOCKS_PART / TRANSFERS_PART)?.max(5);
        println!("  {quotes} open quotes");
        // What was scanned before is no part of it.
        let database = Connection::open(file)?;
        let head = self.dev.head().cast_signed();
        let hash = self.dev.head_hash().map(|hash| format!("0x{}", hex::encode(hash)));
        database.execute("UPDATE payin_scans SET scanned_to = ?1, hash = ?2", (head, hash))?;
        drop(database);
        let gateway = self.gateway(bench, Some(file))?;
        self.until_available(&gateway)?;
        let bodies: Vec<Vec<u8>> = (0..quotes).map(asked).collect();
        bench.write_all(&gateway, &bodies, 201, |address, _, body| load::post(address, "/api/payin/quote", body))?;
        let database = Connection::open(gateway.folder().join(FORUM))?;
        let units = database
            .prepare("SELECT ltrim(send_key, '0') FROM payin_quotes WHERE status = 'quoted' ORDER BY id LIMIT ?1")?
            .query_map([MATCHED.min(quotes)], |row| row.get(0))?
            .collect::<Result<Vec<String>, _>>()?;
        let matched = || -> Result<i64> {
            Ok(database
                .query_row("SELECT count(*) FROM payin_deposits WHERE state = 'matched'", [], |row| row.get(0))?)
        };
        self.dev.mine(units.iter().map(|units| self.transfer(units)).collect());
        until("the first deposit is matched", &gateway, || Ok(matched()? > 0))?;
        let (begun, before, count) = (Instant::now(), matched()?, i64::try_from(units.len())?);
        until("the deposits are matched", &gateway, || Ok(matched()? >= count))?;
        let later = u32::try_from(count - before)?.max(1);
        let ms = begun.elapsed().as_secs_f64() * 1e3 / f64::from(later);
        let reached = if ms <= MATCH_GOAL_MS { "reached" } else { "**missed**" };
        Ok(format!(
            "## A deposit among {quotes} open quotes\n\n{} deposits come in one block, each with the amount of an open quote: each is checked, \
             matched and committed by itself. Goal: {MATCH_GOAL_MS} ms, {reached}.\n\n| ms for one deposit |\n|---:|\n| {ms:.2} |\n",
            units.len(),
        ))
    }

    fn transfer(&self, units: &str) -> ScriptedLog {
        let arguments = [json!(Wallet::new(11).address()), json!(Wallet::new(DEPOSIT).address()), json!(units)];
        ScriptedLog::new(TOKEN, TRANSFER, &arguments)
    }
}

/// A quote for a buyer of its own, for an amount of its own.
fn asked(number: i64) -> Vec<u8> {
    let amount = format!("{}.{:02}", 10 + number / 100, number % 100);
    let buyer = Wallet::new(BUYERS + number.unsigned_abs());
    json!({ "chain": "dev", "asset": "USDX", "amount": amount, "to": buyer.address() }).to_string().into_bytes()
}

fn until(what: &str, gateway: &Server, holds: impl Fn() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !holds().with_context(|| what.to_owned())? {
        ensure!(begun.elapsed() < LIMIT, "{what}: not within {LIMIT:?}: {}", gateway.log());
        thread::sleep(POLL);
    }
    Ok(())
}

async fn repeat(chain: &ScriptedChain, calls: &[ScriptedCall]) -> Result<()> {
    let url = chain.url();
    let address: SocketAddr = url.trim_start_matches("http://").trim_end_matches('/').parse().context(url.clone())?;
    let mut client = Client::open(address).await?;
    for call in calls {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": call.method, "params": call.params }).to_string();
        let answer = client.ask(&load::post(address, "/", body.as_bytes())).await?;
        let answer: Value = serde_json::from_slice(answer.body)?;
        ensure!(answer["error"].is_null(), "{}: {answer}", call.method);
    }
    Ok(())
}

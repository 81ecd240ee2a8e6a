//! The index of chain events: the past beside the bare fetch of the same events, the newest block, a reorganisation.
//!
//! Everything is on one real node with the reference contracts; the gateway is part of this program.

use super::{GATEWAY, Goal, Outcome};
use crate::{
    bench::Bench,
    rounds::{Contestant, Sample, in_turn},
};
use anyhow::{Context as _, Result, ensure};
use gateway_tests::{devnet::Devnet, mirror};
use host::config::ChainConfig;
use nix::time::{ClockId, clock_gettime};
use plugin_testing::TestGateway;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const FETCH: &str = "eth_getLogs alone";
/// As the gateway asks: blocks of one question, and questions at a time.
const RANGE_BLOCKS: u64 = 2000;
const PARALLEL: usize = 4;
const FMX: u128 = 1_000_000_000_000_000_000;
const REGISTER: &str =
    "register(string name, string endpoint, string metadataURI, uint256 pricePerJob) payable returns (uint256 id)";
const UPDATE: &str = "update(uint256 id, string endpoint, string metadataURI, uint256 pricePerJob)";
const DEPTH: u64 = 64;

pub fn run(bench: &Bench) -> Result<Vec<Outcome>> {
    if !Devnet::is_installed() {
        bench.lacks("a chain: apt-get install nodejs npm, then cargo xtask bench");
        return Ok(Vec::new());
    }
    let runtime = Runtime::new()?;
    let past = past(bench, &runtime).context("the past")?;
    let (newest, reorganisation) = head(bench, &runtime).context("the newest block")?;
    Ok(vec![past, newest, reorganisation])
}

/// What was used since then for so many things.
struct Watch {
    cpu: Duration,
    since: Instant,
}

impl Watch {
    fn start() -> Result<Self> {
        Ok(Self { cpu: cpu()?, since: Instant::now() })
    }

    #[allow(clippy::cast_precision_loss, reason = "counts are small")]
    fn sample(&self, count: usize, mut times_us: Vec<f64>) -> Result<Sample> {
        let (took, cpu, count) = (self.since.elapsed(), cpu()?.saturating_sub(self.cpu), count as f64);
        times_us.sort_by(f64::total_cmp);
        let within = |part: usize| times_us.get(times_us.len() * part / 100).copied().unwrap_or(f64::NAN);
        let status = fs::read_to_string("/proc/self/status")?;
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        Ok(Sample {
            cpu_us: cpu.as_secs_f64() * 1e6 / count,
            per_s: count / took.as_secs_f64(),
            p50_us: within(50),
            p99_us: within(99),
            rss_kib: rss.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default(),
        })
    }
}

fn cpu() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

fn settings(devnet: &Devnet, is_announced: bool) -> ChainConfig {
    ChainConfig {
        rpc: vec![devnet.facts.anvil_url.as_str().into()],
        ws: is_announced.then(|| devnet.facts.ws_url.as_str().into()),
        chain_id: Some(devnet.facts.chain_id),
        deploy_block: Some(1),
        contracts: devnet.facts.contracts.clone(),
        range_blocks_max: RANGE_BLOCKS,
        ..ChainConfig::default()
    }
}

async fn gateway(settings: &ChainConfig) -> TestGateway {
    let settings = settings.clone();
    let builder = TestGateway::builder().plugin(mirror::module()).configure(|config| {
        config.chains.insert("main".to_owned(), settings);
    });
    builder.start().await
}

async fn newest(devnet: &Devnet) -> Result<(u64, plugin_api::Hash256)> {
    let block = devnet.call("eth_getBlockByNumber", json!(["latest", false])).await?;
    let number = block["number"].as_str().context("a number")?.trim_start_matches("0x");
    Ok((u64::from_str_radix(number, 16)?, serde_json::from_value(block["hash"].clone())?))
}

async fn indexed(house: &TestGateway, devnet: &Devnet) -> Result<()> {
    let newest = newest(devnet).await?;
    house.indexed_up_to(|| newest).await;
    Ok(())
}

fn past(bench: &Bench, runtime: &Runtime) -> Result<Outcome> {
    let [agents, jobs] = bench.scale.economy.map(|count| count.to_string());
    println!("  playing an economy of {agents} agents and {jobs} jobs");
    let play = ["--agents", &agents, "--jobs", &jobs, "--prune"];
    let devnet = runtime.block_on(Devnet::start_with(&play))?;
    // So deep that all of it is of the past.
    runtime.block_on(devnet.mine(DEPTH + 1))?;
    let question = runtime.block_on(filter(&devnet))?;
    let events = runtime.block_on(fetch(&devnet, &question))?;
    let own = || {
        runtime.block_on(async {
            let watch = Watch::start()?;
            let house = gateway(&settings(&devnet, false)).await;
            indexed(&house, &devnet).await?;
            let sample = watch.sample(events, Vec::new())?;
            let report = house.gateway().services.indexes.reports().remove(0);
            ensure!(usize::try_from(report.events)? == events, "{} events of {events}", report.events);
            house.stop().await;
            Ok(sample)
        })
    };
    let bare = || {
        runtime.block_on(async {
            let watch = Watch::start()?;
            let fetched = fetch(&devnet, &question).await?;
            ensure!(fetched == events, "{fetched} events of {events}");
            watch.sample(events, Vec::new())
        })
    };
    let rows = in_turn(bench.scale.rounds, vec![Contestant::new(GATEWAY, own), Contestant::new(FETCH, bare)])?;
    let how = format!(
        "The past of a chain, {events} events: the gateway starts, fetches them from the node, lets a plugin derive its rows \
         (two statements an event) and commits them to SQLite, until the newest block is in. Beside it the fetch of the \
         same events, read as JSON. Questions of {RANGE_BLOCKS} blocks, {PARALLEL} at a time."
    );
    let goals = vec![Goal::LongerThan { row: GATEWAY, other: FETCH, max: 1.5 }];
    Ok(Outcome { title: "The past of a chain", how, operation: "event", rows, goals })
}

/// The question for the events that the plugin derives from, without its blocks.
async fn filter(devnet: &Devnet) -> Result<Value> {
    let topics: Vec<String> = mirror::events()?.iter().map(ToString::to_string).collect();
    let contracts = &devnet.facts.contracts;
    Ok(json!({ "address": [contracts["registry"], contracts["escrow"]], "topics": [topics] }))
}

/// What whoever derives from an event has to read of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "reading it is what is measured")]
struct Log {
    address: String,
    topics: Vec<String>,
    data: String,
    block_number: String,
    transaction_hash: String,
    log_index: String,
}

/// How many events there are.
async fn fetch(devnet: &Devnet, question: &Value) -> Result<usize> {
    use futures_util::{StreamExt as _, TryStreamExt as _, stream};
    let (head, _) = newest(devnet).await?;
    let ranges = (0..=head / RANGE_BLOCKS).map(|part| part * RANGE_BLOCKS);
    let fetch = |from: u64| async move {
        let mut question = question.clone();
        question["fromBlock"] = format!("{from:#x}").into();
        question["toBlock"] = format!("{:#x}", (from + RANGE_BLOCKS - 1).min(head)).into();
        Ok::<usize, anyhow::Error>(devnet.ask::<Vec<Log>>("eth_getLogs", json!([question])).await?.len())
    };
    stream::iter(ranges).map(fetch).buffered(PARALLEL).try_fold(0, |sum, count| async move { Ok(sum + count) }).await
}

fn head(bench: &Bench, runtime: &Runtime) -> Result<(Outcome, Outcome)> {
    let devnet = runtime.block_on(Devnet::start())?;
    let settings = settings(&devnet, true);
    let house = runtime.block_on(async {
        devnet.send("user1", "registry", REGISTER, &["agent", "https://a.example", "", "1"], 100 * FMX).await?;
        devnet.mine(DEPTH + 6).await?;
        devnet.call("evm_setAutomine", json!([false])).await?;
        let house = gateway(&settings).await;
        indexed(&house, &devnet).await?;
        anyhow::Ok(house)
    })?;
    let lag = || runtime.block_on(blocks(&house, &devnet, bench.scale.blocks));
    let newest = Outcome {
        title: "From a block to its rows",
        how: "Blocks with one event each, announced by WebSocket: from the moment the node is told to make the block until its \
              row can be read from the database."
            .to_owned(),
        operation: "block",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(GATEWAY, lag)])?,
        goals: vec![Goal::MedianAtMostMs { row: GATEWAY, max: 50.0 }],
    };
    let repair = || runtime.block_on(reorganisation(&house, &devnet));
    let reorganised = Outcome {
        title: "A reorganisation",
        how: format!(
            "{DEPTH} blocks with an event each are replaced by others without any: from the node's answer until the index \
             stands on the new branch, its rows undone."
        ),
        operation: "reorganisation",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(GATEWAY, repair)])?,
        goals: vec![Goal::MedianAtMostMs { row: GATEWAY, max: 100.0 }],
    };
    runtime.block_on(house.stop());
    Ok((newest, reorganised))
}

/// One after the other, each until it is seen.
async fn blocks(house: &TestGateway, devnet: &Devnet, count: usize) -> Result<Sample> {
    let watch = Watch::start()?;
    let mut times_us = Vec::with_capacity(count);
    for _ in 0..count {
        let sent = update(devnet).await?;
        let begun = Instant::now();
        devnet.call("evm_mine", json!([])).await?;
        let row = format!("SELECT block FROM mirror_steps WHERE tx = '{sent}'");
        seen(|| async { !house.rows(&row).await.is_empty() }).await?;
        times_us.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    watch.sample(count, times_us)
}

async fn reorganisation(house: &TestGateway, devnet: &Devnet) -> Result<Sample> {
    for _ in 0..DEPTH {
        update(devnet).await?;
        devnet.call("evm_mine", json!([])).await?;
    }
    indexed(house, devnet).await?;
    let watch = Watch::start()?;
    devnet.call("anvil_reorg", json!([DEPTH, []])).await?;
    // The node announces no block of those that it put in the place of others, only the next one.
    devnet.call("evm_mine", json!([])).await?;
    let begun = Instant::now();
    let (_, name) = newest(devnet).await?;
    let place = format!("SELECT plugin FROM host_chain_index WHERE hash = '{name}'");
    seen(|| async { !house.rows(&place).await.is_empty() }).await?;
    let took = begun.elapsed();
    watch.sample(1, vec![took.as_secs_f64() * 1e6])
}

async fn update(devnet: &Devnet) -> Result<String> {
    devnet.send("user1", "registry", UPDATE, &["1", "https://b.example", "", "2"], 0).await
}

async fn seen<F: Future<Output = bool>>(condition: impl Fn() -> F) -> Result<()> {
    let limit = Duration::from_secs(60);
    let waits = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    };
    tokio::time::timeout(limit, waits).await.context("the index does not follow")
}

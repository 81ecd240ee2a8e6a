//! The index of chain events at the head: the newest block, and a reorganisation. The past is in `past.rs`.
//!
//! Everything is on one real node with the reference contracts; the gateway is part of this program.

use super::{Comparison, GATEWAY, Goal};
use crate::{
    bench::Bench,
    rounds::{Contestant, Sample, in_turn},
};
use anyhow::{Context as _, Result};
use gateway_config::ChainConfig;
use gateway_tests::{devnet::Devnet, mirror};
use nix::time::{ClockId, clock_gettime};
use plugin_api::abi::PluginModule_Ref;
use plugin_testing::TestGateway;
use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const FMX: u128 = 1_000_000_000_000_000_000;
const REGISTER: &str =
    "register(string name, string endpoint, string metadataURI, uint256 pricePerJob) payable returns (uint256 id)";
const UPDATE: &str = "update(uint256 id, string endpoint, string metadataURI, uint256 pricePerJob)";
pub const DEPTH: u64 = 64;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    if !Devnet::is_installed() {
        bench.lacks("a chain: apt-get install nodejs npm, then cargo xtask bench");
        return Ok(Vec::new());
    }
    let runtime = Runtime::new()?;
    let (newest, reorganisation) = head(bench, &runtime).context("the newest block")?;
    Ok(vec![newest, reorganisation])
}

/// Measures time and CPU time from its start.
pub struct Watch {
    cpu: Duration,
    since: Instant,
}

impl Watch {
    pub fn start() -> Result<Self> {
        Ok(Self { cpu: cpu()?, since: Instant::now() })
    }

    #[allow(clippy::cast_precision_loss, reason = "counts are small")]
    pub fn sample(&self, count: usize, mut times_us: Vec<f64>) -> Result<Sample> {
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

pub fn settings(devnet: &Devnet, is_announced: bool) -> ChainConfig {
    ChainConfig {
        rpc: vec![devnet.facts.anvil_url.as_str().into()],
        ws: is_announced.then(|| devnet.facts.ws_url.as_str().into()),
        chain_id: Some(devnet.facts.chain_id),
        deploy_block: Some(1),
        contracts: devnet.facts.contracts.clone(),
        ..ChainConfig::default()
    }
}

pub async fn gateway(plugin: PluginModule_Ref, settings: &ChainConfig) -> TestGateway {
    let settings = settings.clone();
    let builder = TestGateway::builder().plugin(plugin).configure(|config| {
        config.chains.insert("main".to_owned(), settings);
    });
    builder.start().await
}

pub async fn newest(devnet: &Devnet) -> Result<(u64, plugin_api::Hash256)> {
    let block = devnet.call("eth_getBlockByNumber", json!(["latest", false])).await?;
    let number = block["number"].as_str().context("a number")?.trim_start_matches("0x");
    Ok((u64::from_str_radix(number, 16)?, serde_json::from_value(block["hash"].clone())?))
}

pub async fn indexed(gateway: &TestGateway, devnet: &Devnet) -> Result<()> {
    let newest = newest(devnet).await?;
    gateway.indexed_up_to(|| newest).await;
    Ok(())
}

fn head(bench: &Bench, runtime: &Runtime) -> Result<(Comparison, Comparison)> {
    let devnet = runtime.block_on(Devnet::start())?;
    let settings = settings(&devnet, true);
    let gateway = runtime.block_on(async {
        devnet.send("user1", "registry", REGISTER, &["agent", "https://a.example", "", "1"], 100 * FMX).await?;
        devnet.mine(DEPTH + 6).await?;
        devnet.call("evm_setAutomine", json!([false])).await?;
        let gateway = gateway(mirror::module(), &settings).await;
        indexed(&gateway, &devnet).await?;
        anyhow::Ok(gateway)
    })?;
    let lag = || runtime.block_on(blocks(&gateway, &devnet, bench.scale.blocks));
    let newest = Comparison {
        title: "From a block to its rows",
        how: "Blocks with one event each, announced by WebSocket: from the moment the node is told to make the block until its \
              row can be read from the database."
            .to_owned(),
        operation: "block",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(GATEWAY, lag)])?,
        goals: vec![Goal::MedianAtMostMs { row: GATEWAY, max: 50.0 }],
    };
    let repair = || runtime.block_on(reorganisation(&gateway, &devnet));
    let reorganised = Comparison {
        title: "A reorganisation",
        how: format!(
            "{DEPTH} blocks with an event each are replaced by others without any: from the node's answer until the index \
             stands on the new branch, its rows undone."
        ),
        operation: "reorganisation",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(GATEWAY, repair)])?,
        goals: vec![Goal::MedianAtMostMs { row: GATEWAY, max: 100.0 }],
    };
    runtime.block_on(gateway.stop());
    Ok((newest, reorganised))
}

/// One after the other, each until it is seen.
async fn blocks(gateway: &TestGateway, devnet: &Devnet, count: usize) -> Result<Sample> {
    let watch = Watch::start()?;
    let mut times_us = Vec::with_capacity(count);
    for _ in 0..count {
        let sent = update(devnet).await?;
        let begun = Instant::now();
        devnet.call("evm_mine", json!([])).await?;
        let row = format!("SELECT block FROM mirror_steps WHERE tx = '{sent}'");
        seen(|| async { !gateway.rows(&row).await.is_empty() }).await?;
        times_us.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    watch.sample(count, times_us)
}

async fn reorganisation(gateway: &TestGateway, devnet: &Devnet) -> Result<Sample> {
    for _ in 0..DEPTH {
        update(devnet).await?;
        devnet.call("evm_mine", json!([])).await?;
    }
    indexed(gateway, devnet).await?;
    let watch = Watch::start()?;
    devnet.call("anvil_reorg", json!([DEPTH, []])).await?;
    // The node does not announce the blocks of a reorganisation, only the next one.
    devnet.call("evm_mine", json!([])).await?;
    let begun = Instant::now();
    let (_, name) = newest(devnet).await?;
    let place = format!("SELECT plugin FROM host_chain_index WHERE hash = '{name}'");
    seen(|| async { !gateway.rows(&place).await.is_empty() }).await?;
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

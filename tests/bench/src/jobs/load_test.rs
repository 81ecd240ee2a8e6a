//! What the runner of the load test costs the gateway at 200 transactions per second.

use super::WITHOUT_LIMITS;
use crate::{bench::Bench, server::Server};
use anyhow::{Context as _, Error, Result, ensure};
use gateway_tests::load_test_wallets::{FLOAT, SEED, WALLET_1, XPUB};
use plugin_testing::ScriptedChain;
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const RATE: f64 = 200.0;
/// Most transactions of a run of the job, which begins a second after the last one has ended: enough for the rate above.
const PER_RUN: &str = "240";
const GOAL_CORES: f64 = 0.5;
const BLOCK_TIME: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(60);
/// Windows of this many blocks are measured, one in each round.
const BLOCKS: u32 = 10;

struct Window {
    cores: f64,
    per_s: f64,
}

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let runtime = Runtime::new()?;
    let chain = runtime.block_on(ScriptedChain::start());
    chain.keep_accounts();
    chain.set_balance(FLOAT.parse().map_err(Error::msg)?, "1000000000000000000000000");
    chain.set_estimate(WALLET_1.parse().map_err(Error::msg)?, 21_080);
    chain.mine_empty(1);
    let gateway = gateway(bench, &chain)?;
    let (stop, stopped) = channel::<()>();
    let windows = thread::scope(|scope| {
        let mined = &chain;
        scope.spawn(move || mine(mined, &stopped));
        let windows = measure(bench, &chain, &gateway);
        drop(stop);
        windows
    })?;
    gateway.stop()?;
    Ok(vec![section(&windows)])
}

fn gateway(bench: &Bench, chain: &ScriptedChain) -> Result<Server> {
    let (url, id) = (chain.url(), chain.id().to_string());
    let settings = [
        ("chain_id", id.as_str()),
        ("chains.main.rpc", &url),
        ("chains.main.chain_id", &id),
        ("chains.main.reorg_depth", "6"),
        ("chains.main.confirmations", "2"),
        ("signers.loadtest.key", SEED),
        ("plugins.loadtest.xpub", XPUB),
        ("plugins.loadtest.wallets", "4000"),
        ("plugins.loadtest.runner", "true"),
        ("plugins.loadtest.autostart", "true"),
        ("plugins.loadtest.rate_per_s", PER_RUN),
        ("plugins.loadtest.wave_wallets", "100"),
        ("plugins.loadtest.waves_max", "30"),
        // Each waits for a block, so that this many are under way at the rate.
        ("plugins.loadtest.in_flight_max_wei", "1000000000000000000000000"),
        // The blocks of the scripted chain are of another time.
        ("plugins.loadtest.head_age_max_s", "1000000000"),
    ];
    bench.gateway(&[settings.as_slice(), &[WITHOUT_LIMITS]].concat())
}

/// A block for each block time, until the other end is dropped.
fn mine(chain: &ScriptedChain, stopped: &Receiver<()>) {
    while stopped.recv_timeout(BLOCK_TIME) == Err(RecvTimeoutError::Timeout) {
        chain.mine_empty(1);
    }
}

fn measure(bench: &Bench, chain: &ScriptedChain, gateway: &Server) -> Result<Vec<Window>> {
    // A first wave is through all its steps then.
    let (blocks, first) = if bench.scale.rounds == 1 { (2, 50) } else { (BLOCKS, 1_000) };
    let begun = Instant::now();
    while chain.mined().len() < first {
        ensure!(begun.elapsed() < LIMIT, "{} transactions within {LIMIT:?}: {}", chain.mined().len(), gateway.log());
        thread::sleep(BLOCK_TIME / 10);
    }
    let window = |_| {
        let (begun, mined, cpu) = (Instant::now(), chain.mined().len(), gateway.cpu_time()?);
        thread::sleep(BLOCK_TIME * blocks);
        let (seconds, cpu) = (begun.elapsed().as_secs_f64(), gateway.cpu_time()?.saturating_sub(cpu));
        let mined = u32::try_from(chain.mined().len() - mined).context("transactions of a window")?;
        ensure!(mined > 0, "no transaction was mined: {}", gateway.log());
        Ok(Window { cores: cpu.as_secs_f64() / seconds, per_s: f64::from(mined) / seconds })
    };
    let mut windows = (0..bench.scale.rounds).map(window).collect::<Result<Vec<_>>>()?;
    windows.sort_by(|a, b| a.cores.total_cmp(&b.cores));
    Ok(windows)
}

fn section(windows: &[Window]) -> String {
    let median = windows.get(windows.len() / 2);
    let (cores, per_s) = median.map_or((0.0, 0.0), |window| (window.cores, window.per_s));
    let is_reached = cores <= GOAL_CORES && per_s >= RATE;
    let reached = if is_reached { "reached" } else { "**missed**" };
    format!(
        "## The runner of the load test\n\nThe plugin `loadtest` runs waves of 100 wallets at `rate_per_s = {PER_RUN}` on a scripted chain with a block \
         in a second: it signs, stores (`synchronous=FULL`) and sends each transaction, and finds it in its block. CPU time of the \
         gateway's process, with the index of the chain; the median of {} windows. Goal: half a core at {RATE:.0} transactions per second, \
         {reached}.\n\n| transactions mined per second | cores | ms of CPU for one |\n|---:|---:|---:|\n| {per_s:.0} | {cores:.2} | {:.2} |\n",
        windows.len(),
        cores * 1e3 / per_s.max(1.0),
    )
}

//! The backfill of a chain: the time of the gateway's index, beside the bare fetch of the same events and beside other
//! indexers.

use super::{
    Comparison, GATEWAY, Goal,
    chain::{DEPTH, Watch, gateway, indexed, newest, settings},
};
use crate::{
    bench::Bench,
    peers::indexers::{self, Indexer},
    rounds::{Contestant, Sample, in_turn},
    steps,
};
use anyhow::{Result, ensure};
use gateway_tests::{devnet::Devnet, postgres::PrivatePostgres};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

const FETCH: &str = "eth_getLogs alone";
const PONDER: &str = "ponder 0.16.10 + PostgreSQL";
const SUBSQUID: &str = "subsquid evm-processor 1.27.3 + PostgreSQL";
/// As many as a block of a busy chain has; with larger blocks an indexer that requests each block would have fewer
/// requests.
const BLOCK_STEPS: &str = "25";
const PLAY_LIMIT: Duration = Duration::from_secs(600);
/// Of the bare fetch, with which anvil responds fastest: blocks of one request, and requests at a time.
const RANGE_BLOCKS: u64 = 100;
const PARALLEL: usize = 4;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    if !Devnet::is_installed() {
        bench.lacks("a chain: apt-get install nodejs npm, then cargo xtask bench");
        return Ok(Vec::new());
    }
    let runtime = &Runtime::new()?;
    let [agents, jobs, updates] = bench.scale.economy.map(|count| count.to_string());
    println!("  playing an economy of {agents} agents and {jobs} jobs");
    let economy = ["--agents", &agents, "--jobs", &jobs, "--updates", &updates];
    let play = [&economy[..], &["--block-steps", BLOCK_STEPS, "--prune"]].concat();
    let devnet = runtime.block_on(Devnet::start_within(PLAY_LIMIT, &play))?;
    // So deep that every event is final.
    runtime.block_on(devnet.mine(DEPTH + 1))?;
    let question = runtime.block_on(filter(&devnet))?;
    let events = runtime.block_on(fetch(&devnet, &question))?;
    let settings = settings(&devnet, false);
    let own = || {
        runtime.block_on(async {
            let watch = Watch::start()?;
            let gateway = gateway(steps::module(), &settings).await;
            indexed(&gateway, &devnet).await?;
            let sample = watch.sample(events, Vec::new())?;
            let report = gateway.gateway().indexes.reports().remove(0);
            ensure!(usize::try_from(report.events)? == events, "{} events of {events}", report.events);
            gateway.stop().await;
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
    let database = if bench.with_peers { peers(bench) } else { None };
    let (last_block, _) = runtime.block_on(newest(&devnet))?;
    let mut contestants = vec![Contestant::new(GATEWAY, own), Contestant::new(FETCH, bare)];
    let mut goals = vec![Goal::LongerThan { row: GATEWAY, other: FETCH, max: 1.5 }];
    if let Some(database) = &database {
        let peer = |indexer: Indexer| {
            let devnet = &devnet;
            // Once is enough for what takes minutes.
            let mut known: Option<Sample> = None;
            move || match known {
                Some(sample) if indexer == Indexer::Ponder => Ok(sample),
                _ => {
                    let sample = indexer.measure(runtime, devnet, database, last_block - 1, events)?;
                    Ok(*known.insert(sample))
                }
            }
        };
        contestants.push(Contestant::new(SUBSQUID, peer(Indexer::Subsquid)));
        contestants.push(Contestant::new(PONDER, peer(Indexer::Ponder)));
        goals.push(Goal::LongerThan { row: GATEWAY, other: PONDER, max: 1.0 / 40.0 });
    }
    let rows = in_turn(bench.scale.rounds, contestants)?;
    let how = format!(
        "The past of a chain, {events} events: each indexer starts, fetches them from the node, derives a row of each with its \
         arguments and commits it, the gateway to SQLite, until the newest block is in. Beside them the fetch of the same \
         events, {RANGE_BLOCKS} blocks a question, {PARALLEL} at a time, read as JSON. A block has up to {BLOCK_STEPS} steps of the \
         economy. The gateway, ponder and subsquid run with their defaults, ponder in the first round only, and their CPU time \
         is without PostgreSQL's."
    );
    Ok(vec![Comparison { title: "The past of a chain", how, operation: "event", rows, goals }])
}

fn peers(bench: &Bench) -> Option<PrivatePostgres> {
    if !indexers::are_installed() {
        bench.lacks("ponder and subsquid: apt-get install nodejs npm, then cargo xtask bench");
        return None;
    }
    match PrivatePostgres::start() {
        Ok(database) => Some(database),
        Err(error) => {
            bench.lacks(&format!("PostgreSQL: apt-get install postgresql ({error:#})"));
            None
        }
    }
}

/// The filter of the events that the plugin derives from, without a range of blocks.
async fn filter(devnet: &Devnet) -> Result<Value> {
    let topics: Vec<String> = steps::topics()?.iter().map(ToString::to_string).collect();
    let contracts = &devnet.facts.contracts;
    Ok(json!({ "address": [contracts["registry"], contracts["escrow"]], "topics": [topics] }))
}

/// The members of an event that every indexer has to read.
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

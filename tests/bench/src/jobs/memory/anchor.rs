//! Batches of records for the chain, and the proof of one record.

use super::{KEY, gateway_on};
use crate::{
    bench::{Bench, wait_until_indexed},
    jobs::{Comparison, Goal, new_view},
    load::{self, Load},
    rounds::{Contestant, Sample, in_turn},
    server::Server,
    signing,
};
use anyhow::{Result, ensure};
use gateway_clock::Clock;
use plugin_testing::{ScriptedChain, ScriptedLog, Wallet};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::runtime::Runtime;

const BATCH: &str = "a batch";
const PROOF: &str = "a proof";
/// More than a test wallet of another job has.
const FIRST_OWNER: u64 = 1 << 42;
const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, \
     string metadataURI, uint256 pricePerJob, uint256 bond)";

pub fn outcomes(bench: &Bench) -> Result<Vec<Comparison>> {
    let runtime = Runtime::new()?;
    let chain = runtime.block_on(ScriptedChain::start());
    let owners: Vec<Wallet> = (FIRST_OWNER..).take(bench.scale.rounds).map(Wallet::new).collect();
    chain.mine((1..).zip(&owners).map(|(id, owner)| registered(id, owner)).collect());
    chain.mine_empty(10);
    let contracts = ["registry", "memoryAnchor"].map(|name| (name, ScriptedChain::address_of(name).to_string()));
    let mut settings = vec![
        ("chains.main.rpc".to_owned(), chain.url()),
        ("chains.main.deploy_block".to_owned(), "1".to_owned()),
        ("limits.write_interval_ms".to_owned(), "0".to_owned()),
    ];
    settings.extend(contracts.map(|(name, address)| (format!("chains.main.contracts.{name}"), address)));
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let server = gateway_on(bench, &settings)?;
    wait_until_indexed(&server, chain.head())?;
    for owner in &owners {
        write(bench, &server, owner)?;
    }
    Ok(vec![batches(bench, &server, &owners)?, proofs(bench, &server)?])
}

fn registered(id: u64, owner: &Wallet) -> ScriptedLog {
    let (address, name) = (owner.address(), format!("Agent {id}"));
    ScriptedLog::new(
        "registry",
        REGISTERED,
        &[json!(id), json!(address), json!(name), json!(""), json!(""), json!("1"), json!("0")],
    )
}

/// As many records as a batch has at most, all of one key.
fn write(bench: &Bench, server: &Server, owner: &Wallet) -> Result<()> {
    let payload = |number: u64| json!({ "key": "plan", "value": number });
    let signed =
        |number| Ok(serde_json::to_vec(&owner.signed_body("memory.put", Clock::System.now_s(), &payload(number)))?);
    let bodies = signing::in_parallel(0..bench.scale.records, signed)?;
    let (first, rest) = bodies.split_at(1);
    let request = |address, _: usize, body: &[u8]| load::send(address, &format!("PUT {KEY}"), "application/json", body);
    bench.write_all(server, first, 201, request)?;
    bench.write_all(server, rest, 200, request)
}

/// Each round builds that of another owner.
fn batches(bench: &Bench, server: &Server, owners: &[Wallet]) -> Result<Comparison> {
    let mut left = owners.iter();
    let build = || {
        let owner = left.next().ok_or_else(|| anyhow::anyhow!("there are as many owners as rounds"))?;
        let payload = json!({ "limit": bench.scale.records });
        let body = serde_json::to_vec(&owner.signed_body("memory.anchor", Clock::System.now_s(), &payload))?;
        let (cpu, begun) = (server.cpu_time()?, Instant::now());
        let (status, _, answer) =
            load::ask(server.address(), &load::post(server.address(), "/api/memory/anchor", &body))?;
        let (took_us, cpu) = (begun.elapsed().as_secs_f64() * 1e6, server.cpu_time()?.saturating_sub(cpu));
        ensure!(status == 201, "{status} instead of 201: {}", String::from_utf8_lossy(&answer));
        let batch: Value = serde_json::from_slice(&answer)?;
        ensure!(batch["count"] == bench.scale.records, "{} records are in the batch", batch["count"]);
        let cpu_us = cpu.as_secs_f64() * 1e6;
        Ok(Sample { cpu_us, per_s: 1e6 / took_us, p50_us: took_us, p99_us: took_us, rss_kib: server.rss_kib()? })
    };
    Ok(Comparison {
        title: "A batch of records for the chain",
        how: format!(
            "`POST /api/memory/anchor` of an agent whose owner has {} records in no batch: each key is opened, the tree is built, and the \
             answer has every record with its proof.",
            bench.scale.records
        ),
        operation: "batch",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(BATCH, build)])?,
        goals: vec![Goal::MedianAtMostMs { row: BATCH, max: 60.0 }],
    })
}

fn proofs(bench: &Bench, server: &Server) -> Result<Comparison> {
    let records = bench.scale.records;
    let request = |_| Some(load::get(server.address(), &format!("/api/memory/proof/1/{}", 1 + new_view() % records)));
    let load = Load {
        addresses: &[server.address()],
        connections: 1,
        pace: None,
        warm_up: bench.scale.warm_up,
        duration: bench.scale.duration,
        requests: &request,
        status: 200,
        body_bytes_min: 1,
    };
    let measure = || Sample::of(&load.run(&|| server.cpu_time())?, server);
    Ok(Comparison {
        title: "The proof of a record of private memory",
        how: format!(
            "`GET /api/memory/proof/1/{{seq}}`: one of the {records} records of a batch, asked for one after the other."
        ),
        operation: "proof",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(PROOF, measure)])?,
        goals: vec![Goal::MedianAtMostMs { row: PROOF, max: 1.0 }],
    })
}

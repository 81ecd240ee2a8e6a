//! A credential of 1,000 claims, of an agent with very many jobs, each proven by logs of a scripted chain: built anew, made again from an
//! issue that stands, and answered again unchanged; beside what its hashes alone cost, here and on Node.

use super::WITHOUT_LIMITS;
use crate::{
    bench::{Bench, FORUM, wait_until_indexed},
    load,
    peers::plain,
    server::{Server, Site},
};
use alloy_primitives::keccak256;
use anyhow::{Context as _, Result, ensure};
use plugin_testing::{ScriptedChain, Wallet, json};
use rusqlite::Connection;
use serde_json::Value;
use std::{fs, process::Command, time::Instant};
use tokio::runtime::Runtime;

#[path = "../../../../plugins/agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

const CREDENTIAL: &str = "/api/cv/1?limit=1000";
const GET_AGENT: &str = "getAgent(uint256) returns ((address,string,string,string,uint256,uint256,uint64,uint64,uint8,uint32,uint32,uint32,uint32))";
/// Claims are a tenth of the rows of `growth`: 100,000 jobs.
const JOBS_PART: u64 = 10;
const JOBS_PER_BLOCK: u64 = 100;
/// Blocks on top of the last job.
const DEEP: u64 = 10;
/// The number of the wallet with the gateway's key.
const SIGNER: u64 = 900;
/// Above twice what the hashes cost.
const COLD_MORE_MS: f64 = 2.0;

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let jobs = (bench.scale.growth / JOBS_PART).max(10);
    println!("  a chain with {jobs} jobs of one agent");
    let runtime = Runtime::new()?;
    let chain = chain(&runtime, jobs);
    let site = Site::new()?;
    let file = site.folder.path().join(FORUM);
    let gateway = start(bench, site, &chain)?;
    wait_until_indexed(&gateway, chain.head())?;
    gateway.wait_until_idle()?;
    let requests = bench.scale.growth_requests;
    let database = Connection::open(&file)?;
    let (mut cold, mut body) = (Vec::new(), Vec::new());
    for _ in 0..requests {
        // Nothing was issued for the agent, and no answer in memory has this limit.
        database.execute_batch("DELETE FROM aicv_issues; DELETE FROM aicv_documents;")?;
        let (took_ms, answer) = timed(&gateway, &path(cold.len()))?;
        cold.push(took_ms);
        body = answer;
    }
    // Another limit makes another document of the same issue, whose claims have their leaves.
    let kept = (0..requests).map(|number| Ok(timed(&gateway, &path(requests + number))?.0)).collect::<Result<_>>()?;
    let last = path(2 * requests - 1);
    let again = (0..requests).map(|_| Ok(timed(&gateway, &last)?.0)).collect::<Result<_>>()?;
    let bare = plain::start(plain::HYPER, &body)?;
    let bytes = (0..requests).map(|_| Ok(timed(&bare, &last)?.0)).collect::<Result<_>>()?;
    let hashes = HashedBytes::of(&body)?;
    ensure!(hashes.leaves.len() as u64 >= jobs.min(900), "the record has {} claims", hashes.leaves.len());
    let rows = Rows {
        cold: median(cold),
        kept: median(kept),
        again: median(again),
        bytes: median(bytes),
        hashes: median((0..requests).map(|_| hashes.all_ms()).collect()),
        document: median((0..requests).map(|_| hashes.document_ms()).collect()),
        node: node(bench, &body)?,
    };
    Ok(vec![rows.section(jobs, &hashes, body.len(), requests)])
}

fn chain(runtime: &Runtime, jobs: u64) -> ScriptedChain {
    let chain = runtime.block_on(ScriptedChain::start());
    let endpoint = "https://digger.example";
    let count = u32::try_from(jobs).unwrap_or(u32::MAX);
    let state = json!([
        script::account(1),
        "Digger",
        endpoint,
        "ipfs://m",
        "5",
        "100",
        1,
        0,
        script::ACTIVE,
        count,
        0,
        count,
        5
    ]);
    chain.mock_call(ScriptedChain::address_of("registry"), GET_AGENT, &[state]);
    chain.mine(script::registered(1, 1, "Digger", endpoint));
    for first in (1..=jobs).step_by(usize::try_from(JOBS_PER_BLOCK).unwrap_or(1)) {
        let block = first..=jobs.min(first + JOBS_PER_BLOCK - 1);
        let logs = block.flat_map(|job| {
            let done = script::done(job, 1, 7 + job % 1000, "1000000000000000000", 5);
            done.into_iter().map(move |log| log.in_transaction(&format!("job {job}")))
        });
        chain.mine(logs.collect());
    }
    chain.mine_empty(DEEP);
    chain
}

fn start(bench: &Bench, site: Site, chain: &ScriptedChain) -> Result<Server> {
    let key = Wallet::new(SIGNER).key_text();
    let contract = |name| ScriptedChain::address_of(name).to_string();
    let settings = [
        ("chains.main.rpc", chain.url()),
        ("chains.main.deploy_block", "1".to_owned()),
        ("chains.main.contracts.registry", contract("registry")),
        ("chains.main.contracts.escrow", contract("escrow")),
        ("signers.gateway.key", format!("0x{}", key.trim_start_matches("0x"))),
    ];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    bench.gateway_in(site, &[settings.as_slice(), &[WITHOUT_LIMITS]].concat())
}

/// No two numbers ask for the same answer, and each has all 1,000 claims but the last few.
fn path(number: usize) -> String {
    match number {
        0 => CREDENTIAL.to_owned(),
        number => CREDENTIAL.replace("1000", &(1000 - number).to_string()),
    }
}

fn timed(gateway: &Server, path: &str) -> Result<(f64, Vec<u8>)> {
    let request = load::get(gateway.address(), path);
    let begun = Instant::now();
    let (status, _, body) = load::ask(gateway.address(), &request)?;
    let took_ms = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(status == 200, "{path}: {status} {}\n{}", String::from_utf8_lossy(&body), gateway.log());
    Ok((took_ms, body))
}

/// The bytes of which a document has hashes.
struct HashedBytes {
    leaves: Vec<Vec<u8>>,
    document: Vec<u8>,
}

impl HashedBytes {
    fn of(body: &[u8]) -> Result<Self> {
        let mut document: Value = serde_json::from_slice(body)?;
        let record = document["credentialSubject"]["record"].as_array().context("a credential has a record")?;
        let leaf = |claim: &Value| {
            let mut claim = claim.clone();
            claim.as_object_mut().context("a claim is an object")?.remove("leaf");
            Ok(serde_json_canonicalizer::to_vec(&claim)?)
        };
        let leaves = record.iter().map(leaf).collect::<Result<_>>()?;
        document.as_object_mut().context("a credential is an object")?.remove("documentHash");
        Ok(Self { leaves, document: serde_json_canonicalizer::to_vec(&document)? })
    }

    fn all_ms(&self) -> f64 {
        let begun = Instant::now();
        for leaf in &self.leaves {
            std::hint::black_box(keccak256(leaf));
        }
        begun.elapsed().as_secs_f64() * 1e3 + self.document_ms()
    }

    fn document_ms(&self) -> f64 {
        let begun = Instant::now();
        std::hint::black_box(keccak256(&self.document));
        begun.elapsed().as_secs_f64() * 1e3
    }
}

/// What Node needs to canonicalise and hash the same document, in ms; nothing without Node.
fn node(bench: &Bench, body: &[u8]) -> Result<Option<f64>> {
    let Some(mut node) = bench.fastify("credential.mjs").filter(|_| bench.with_peers) else { return Ok(None) };
    let file = bench.folder().join("credential.json");
    fs::write(&file, body)?;
    let output = Command::output(node.arg(&file))?;
    ensure!(output.status.success(), "credential.mjs: {}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(String::from_utf8(output.stdout)?.trim().parse()?))
}

fn median(mut times_ms: Vec<f64>) -> f64 {
    times_ms.sort_by(f64::total_cmp);
    times_ms.get(times_ms.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Medians, in ms.
struct Rows {
    cold: f64,
    kept: f64,
    again: f64,
    bytes: f64,
    hashes: f64,
    document: f64,
    node: Option<f64>,
}

impl Rows {
    fn section(&self, jobs: u64, hashes: &HashedBytes, bytes: usize, requests: usize) -> String {
        let claims = hashes.leaves.len();
        let reached = |is_reached: bool| if is_reached { "reached" } else { "**missed**" };
        let mut lines = vec![
            format!(
                "| built: nothing was issued before | {:.2} | 2 × the hashes + 2 ms: {} |",
                self.cold,
                reached(self.cold <= 2.0 * self.hashes + COLD_MORE_MS)
            ),
            format!(
                "| another limit of the same issue | {:.2} | 1.3 × the document's hash: {} |",
                self.kept,
                reached(self.kept <= 1.3 * self.document)
            ),
            format!(
                "| again, unchanged | {:.2} | 1.2 × the line below: {} |",
                self.again,
                reached(self.again <= 1.2 * self.bytes)
            ),
            format!("| the same bytes from memory, by hyper | {:.2} | |", self.bytes),
            format!("| keccak256 of {claims} leaves and of the document, here | {:.2} | |", self.hashes),
            format!("| keccak256 of the document, here | {:.2} | |", self.document),
        ];
        if let Some(node) = self.node {
            let goal = reached(self.cold * 15.0 <= node);
            lines.push(format!(
                "| `canonicalize` and keccak256 of the same on Node | {node:.2} | 15 × the first line: {goal} |"
            ));
        }
        format!(
            "## A credential of {claims} claims, of an agent with {jobs} jobs\n\n`GET {CREDENTIAL}`: {bytes} bytes. Each claim is a job that \
             four logs of a scripted chain prove; one request after the other, the median of {requests}. The first lines hold the read of \
             the claims, of their logs and of the agent's state on the chain.\n\n| | ms | goal |\n|---|---:|---|\n{}\n",
            lines.join("\n")
        )
    }
}

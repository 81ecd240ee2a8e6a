//! An export of an agent that has very many log lines, and the graph of very many edges with each of its filters.
//!
//! The rows are written by SQL into the file of a gateway that was started and stopped.

use super::WITHOUT_LIMITS;
use crate::{
    bench::{Bench, Synchronous, keep},
    load,
    server::Server,
};
use anyhow::{Result, ensure};
use std::{fmt::Write as _, path::Path, time::Instant};

const SEED: &str = include_str!("trust.sql");
/// Edges of one agent; in a small run there are as many agents as edges allow.
const EDGES_OF_AGENT: u64 = 100;
/// The hub of logs and of edges.
const EXPORT: &str = "/api/agents/1/audit.jsonl?limit=1000";
const EXPORT_GOAL_MB_PER_S: f64 = 40.0;
const GRAPH_GOAL_MS: f64 = 50.0;
/// The filters of the graph, the first one without any.
const GRAPHS: [&str; 9] = [
    "",
    "limit=1000",
    "kind=hire",
    "kind=x402",
    "agentId=1",
    "agentId=7",
    "minJobs=2",
    "capability=c7",
    "capability=c7&minJobs=2",
];

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let rows = bench.scale.growth;
    let file = bench.folder().join("trust.db");
    make(bench, &file, rows)?;
    // An answer from memory costs the same at any size.
    let server = bench.gateway_on_copy(&file, &[("http.cache_bytes_max", "0"), WITHOUT_LIMITS])?;
    let requests = bench.scale.growth_requests;
    Ok(vec![export(&server, rows, requests)?, graph(&server, rows, requests)?])
}

fn make(bench: &Bench, file: &Path, rows: u64) -> Result<()> {
    println!("  {rows} logs and {rows} edges");
    let database = keep(bench.gateway(&[Synchronous::Normal.setting()])?, file)?;
    database.execute_batch(
        "PRAGMA synchronous = off; BEGIN; CREATE TEMP TABLE n (i INTEGER PRIMARY KEY); CREATE TEMP TABLE a (i INTEGER PRIMARY KEY);",
    )?;
    for (table, count) in [("n", rows), ("a", agents(rows))] {
        let numbers = "WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?1)";
        database.execute(&format!("{numbers} INSERT INTO {table} SELECT i FROM numbers"), [i64::try_from(count)?])?;
    }
    database.execute_batch(SEED)?;
    database.execute_batch("DROP TABLE n; DROP TABLE a; COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);")?;
    Ok(())
}

fn agents(rows: u64) -> u64 {
    rows.div_ceil(EDGES_OF_AGENT).max(10)
}

/// The median of so many requests in ms, one after the other, and the last body.
fn median(server: &Server, path: &str, requests: usize) -> Result<(f64, Vec<u8>)> {
    let (mut times_ms, mut last) = (Vec::with_capacity(requests), Vec::new());
    let request = load::get(server.address(), path);
    for _ in 0..requests.max(1) {
        let begun = Instant::now();
        let (status, _, body) = load::ask(server.address(), &request)?;
        times_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(status == 200, "{path}: {status} {}\n{}", String::from_utf8_lossy(&body), server.log());
        last = body;
    }
    times_ms.sort_by(f64::total_cmp);
    Ok((times_ms[times_ms.len() / 2], last))
}

fn export(server: &Server, rows: u64, requests: usize) -> Result<String> {
    let (median_ms, body) = median(server, EXPORT, requests)?;
    // The last line is the footer.
    let lines = body.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
    // An export of the whole length may end before the lines of the next second.
    ensure!((rows.min(1000) - 1..=rows.min(1000)).contains(&u64::try_from(lines)?), "the export has {lines} lines");
    let mb_per_s = body.len() as f64 / 1e3 / median_ms;
    let reached = if mb_per_s >= EXPORT_GOAL_MB_PER_S { "reached" } else { "**missed**" };
    Ok(format!(
        "## An audit export of an agent with {rows} logs\n\n`GET {EXPORT}`: {lines} lines, {} bytes, root and footer signed; one request \
         after the other, the median of {requests}. Goal: {EXPORT_GOAL_MB_PER_S} MB/s, {reached}.\n\n| ms | MB/s |\n|---:|---:|\n\
         | {median_ms:.2} | {mb_per_s:.1} |\n",
        body.len()
    ))
}

fn graph(server: &Server, rows: u64, requests: usize) -> Result<String> {
    let mut text = format!(
        "## The hiring graph of {} agents and {rows} edges\n\n`GET /api/network`: one request after the other without the cache of \
         answers, the median of {requests}. Goal: {GRAPH_GOAL_MS} ms without a filter.\n\n| filter | edges that match | ms | |\n\
         |---|---:|---:|---|\n",
        agents(rows)
    );
    for query in GRAPHS {
        let (median_ms, body) = median(server, &format!("/api/network?{query}"), requests)?;
        let graph: serde_json::Value = serde_json::from_slice(&body)?;
        let total = graph["total"].as_u64().unwrap_or_default();
        ensure!(!query.is_empty() || total == rows, "the graph has {total} edges");
        ensure!(total > 0, "no edge matches {query:?}");
        let goal = match query {
            "" if median_ms <= GRAPH_GOAL_MS => "reached",
            "" => "**missed**",
            _ => "",
        };
        let name = if query.is_empty() { "none" } else { query };
        let _ = writeln!(text, "| {name} | {total} | {median_ms:.2} | {goal} |");
    }
    Ok(text)
}

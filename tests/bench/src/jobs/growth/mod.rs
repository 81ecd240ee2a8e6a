//! Every read at growing numbers of rows: which answers cost more with the table that they are made of.
//!
//! The rows are written by SQL into the file of a gateway that was started and stopped, so all that the gateway keeps beside them
//! (counts, search indexes) is kept by its own triggers.

use super::WITHOUT_LIMITS;
use crate::{
    bench::{Bench, Synchronous, keep},
    load,
    server::Server,
};
use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection;
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, time::Instant};

const SEED: &str = include_str!("seed.sql");
const SIZES: [u64; 3] = [1_000, 100_000, 1_000_000];
/// What an answer may take where there are most rows.
const GOAL_MS: f64 = 5.0;

/// A query for an operation, beside the plain one.
const QUERIES: [(&str, &str); 26] = [
    ("/api/agents", "sort=rating"),
    ("/api/agents", "sort=jobs&status=active"),
    ("/api/agents", "q=agent77"),
    ("/api/agents", "offset=10000"),
    ("/api/jobs", "client={wallet}"),
    ("/api/jobs", "agentOwner={wallet}"),
    ("/api/forum/threads", "sort=top"),
    ("/api/forum/threads", "tag=t7"),
    ("/api/forum/threads", "sort=new&offset=10000"),
    ("/api/forum/threads", "q=Thread+77"),
    ("/api/bounties", "status=open"),
    ("/api/bounties", "status=completed"),
    ("/api/bounties", "sort=active"),
    ("/api/bounties", "tag=t7"),
    ("/api/artifacts", "sort=stars"),
    ("/api/artifacts", "tag=t7"),
    ("/api/tools", "kind=mcp&online=1"),
    ("/api/compute", "gpu=none"),
    ("/api/arena/challenges", "status=open"),
    ("/api/arena/challenges", "status=closed"),
    ("/api/kb", "q=body+77"),
    ("/api/kb", "q=b"),
    ("/api/activity", "type=none."),
    ("/api/activity", "since=9000000000"),
    ("/api/streams", "status=open"),
    ("/api/disputes", "status=open"),
];

const OPEN_CHALLENGES: &str =
    "whether a job closed a challenge follows from the chain: computed for all open challenges";
const FOUND: &str = "costs with what it finds, here one row of 90, which are counted";

/// Why an answer may take longer than the goal: the beginning of its path, and the reason.
const REASONS: [(&str, &str); 12] = [
    ("/.well-known/", OPEN_CHALLENGES),
    ("/api/discovery/", OPEN_CHALLENGES),
    ("/api/stats", OPEN_CHALLENGES),
    ("/api/status", OPEN_CHALLENGES),
    ("/api/arena/challenges?status", OPEN_CHALLENGES),
    ("/api/agents?q", FOUND),
    ("/api/forum/threads?q", FOUND),
    ("/api/agents?offset", "10,000 rows are passed over; the link to the next page costs the same everywhere"),
    ("/api/leaderboard", "sums over whole tables; one result serves everybody for ten times as long as it took"),
    ("/api/work", "up to 500 items of each kind are collected, filtered and sorted"),
    ("/api/compute?gpu", "a part of a GPU's name is looked for in all listings of compute"),
    ("/api/kb?q", "ranks every page that has the words"),
];

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let mut table = GrowthTable::default();
    let most = bench.scale.growth;
    let sizes: Vec<u64> = SIZES.into_iter().filter(|rows| *rows < most).chain([most]).collect();
    for rows in &sizes {
        println!("  {rows} rows of each kind");
        let file = bench.folder().join("growth.db");
        make(bench, &file, *rows)?;
        // An answer from memory costs the same at any size.
        let server = bench.gateway_on_copy(&file, &[("http.cache_bytes_max", "0"), WITHOUT_LIMITS])?;
        fs::remove_file(&file)?;
        for path in paths(&server, *rows)? {
            if let Some(median_ms) = median_ms(&server, &path.request, bench.scale.growth_requests)? {
                table.add(path.name, median_ms);
            }
        }
    }
    Ok(vec![table.section(&sizes, bench.scale.growth_requests)])
}

/// A database with so many rows of each kind.
fn make(bench: &Bench, file: &Path, rows: u64) -> Result<()> {
    let database = keep(bench.gateway(&[Synchronous::Normal.setting()])?, file)?;
    database.execute_batch(
        "PRAGMA synchronous = off; PRAGMA foreign_keys = off; BEGIN; CREATE TEMP TABLE n (i INTEGER PRIMARY KEY, wallet TEXT, hash TEXT);",
    )?;
    // Digits alone are their own checksum.
    database.execute(
        "WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?1) \
         INSERT INTO n SELECT i, '0x' || printf('%040d', i), '0x' || printf('%064d', i) FROM numbers",
        [i64::try_from(rows)?],
    )?;
    for statement in statements(SEED) {
        let seeded = database.execute_batch(statement);
        seeded.with_context(|| statement.trim().lines().next().unwrap_or_default().to_owned())?;
    }
    database.execute_batch("DROP TABLE n; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);")?;
    counted(&database, rows)
}

fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(";\n").filter(|statement| !statement.trim().is_empty())
}

/// What the gateway's triggers keep knows the rows.
fn counted(database: &Connection, rows: u64) -> Result<()> {
    let messages: i64 = database.query_row("SELECT row_count FROM messages_messages_counts", [], |row| row.get(0))?;
    ensure!(u64::try_from(messages)? == rows, "{messages} messages are counted");
    Ok(())
}

struct Read {
    /// As the table names it.
    name: String,
    request: String,
}

/// The public reads of the document, each with the rows in the middle as its parameters.
fn paths(server: &Server, rows: u64) -> Result<Vec<Read>> {
    let (status, _, body) = load::ask(server.address(), &load::get(server.address(), "/api/openapi.json"))?;
    ensure!(status == 200, "the document is answered with {status}");
    let document: Value = serde_json::from_slice(&body)?;
    let paths = document["paths"].as_object().context("the document has paths")?;
    let mut found = Vec::new();
    for (path, operations) in paths {
        if is_measured(&operations["get"]) {
            let queries = QUERIES.iter().filter(|(of, _)| of == path).map(|(_, query)| *query);
            for query in std::iter::once("").chain(queries) {
                found.push(named(path, query, rows));
            }
        }
    }
    Ok(found)
}

/// Whether anybody may ask for it, and the answer ends.
fn is_measured(operation: &Value) -> bool {
    let is_stream = operation["responses"]["200"]["content"].get("text/event-stream").is_some();
    let is_public = operation["security"].as_array().is_none_or(Vec::is_empty);
    operation.is_object() && is_public && !is_stream
}

fn named(path: &str, query: &str, rows: u64) -> Read {
    let middle = (rows / 2).max(1);
    let row = if path.contains("slug") { format!("page-{middle}") } else { middle.to_string() };
    let hash = format!("0x{middle:064}");
    let mut request = path.to_owned();
    while let Some((before, rest)) = request.split_once('{') {
        let (name, after) = rest.split_once('}').unwrap_or((rest, ""));
        let value = if name == "hash" { &hash } else { &row };
        request = format!("{before}{value}{after}");
    }
    let link = if query.is_empty() { "" } else { "?" };
    let asked = query.replace("{wallet}", &format!("0x{middle:040}"));
    Read { name: format!("{path}{link}{query}"), request: format!("{request}{link}{asked}") }
}

/// Nothing for what is answered to those alone who sign.
fn median_ms(server: &Server, path: &str, requests: usize) -> Result<Option<f64>> {
    let mut times_ms = Vec::with_capacity(requests);
    let request = load::get(server.address(), path);
    for _ in 0..requests.max(1) {
        let begun = Instant::now();
        let (status, _, body) = load::ask(server.address(), &request)?;
        times_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        if matches!(status, 401 | 403) {
            return Ok(None);
        }
        ensure!(status < 400 || is_without_row(status, &body), "{path}: {status} {}", String::from_utf8_lossy(&body));
    }
    times_ms.sort_by(f64::total_cmp);
    Ok(Some(times_ms[times_ms.len() / 2]))
}

/// 404 for what has no row here; 503 for what this gateway is not configured for, or has no chain for, but not for a plugin that is
/// paused. What answers a plain number refuses in plain text.
fn is_without_row(status: u16, body: &[u8]) -> bool {
    let is_told = |code: &Value| *code == "disabled" || *code == "chain_unavailable";
    let has_reason = || serde_json::from_slice::<Value>(body).map_or(true, |error| is_told(&error["code"]));
    matches!(status, 400 | 404) || status == 503 && has_reason()
}

/// Medians by path, in the order of the sizes.
#[derive(Default)]
struct GrowthTable(BTreeMap<String, Vec<f64>>);

impl GrowthTable {
    fn add(&mut self, path: String, median_ms: f64) {
        self.0.entry(path).or_default().push(median_ms);
    }

    fn section(&self, sizes: &[u64], requests: usize) -> String {
        let mut text = format!(
            "## What reads cost as tables grow\n\nEvery `GET` operation that anybody may call, one request after the other on one connection \
             each, without the cache of answers: the median of {requests} requests in ms, by the number of rows in every table. \
             Where there are most rows, an answer is to take at most {GOAL_MS} ms, or the reason is said.\n\n| |"
        );
        for size in sizes {
            let _ = write!(text, " {size} |");
        }
        let _ = writeln!(text, " |\n|---|{}---|", "---:|".repeat(sizes.len()));
        for (path, medians) in &self.0 {
            let _ = write!(text, "| `{path}` |");
            for median in medians {
                let _ = write!(text, " {median:.2} |");
            }
            let is_slow = medians.last().is_some_and(|median| *median > GOAL_MS);
            let reason =
                REASONS.iter().find(|(begin, _)| path.starts_with(begin)).map_or("**no reason**", |(_, why)| why);
            let _ = writeln!(text, " {} |", if is_slow { reason } else { "" });
        }
        text
    }
}

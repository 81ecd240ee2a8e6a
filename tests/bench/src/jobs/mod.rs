//! The jobs: what is measured, the peers, and the goals of the gateway.

mod again;
mod agents;
mod arena;
mod chain;
mod credential;
mod deposits;
mod flat;
mod growth;
mod hello;
mod idle;
mod list;
mod load_test;
mod memory;
mod past;
mod payloads;
mod payments;
mod plugins;
mod postgres;
mod record;
mod replicas;
mod search;
mod stream;
mod transparency;
mod trust;
mod webhooks;
mod write;

use crate::{
    bench::{Bench, Synchronous},
    load, report,
    rounds::Row,
    server::Server,
};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Job {
    pub name: &'static str,
    pub run: JobFunction,
}

pub enum JobFunction {
    /// Servers beside each other.
    Compared(fn(&Bench) -> Result<Vec<Comparison>>),
    /// Sections with tables of their own.
    Written(fn(&Bench) -> Result<Vec<String>>),
}

impl JobFunction {
    /// The sections of BENCHMARKS.md.
    pub fn sections(&self, bench: &Bench) -> Result<Vec<String>> {
        match self {
            Self::Compared(run) => Ok(run(bench)?.iter().map(report::section).collect()),
            Self::Written(run) => run(bench),
        }
    }
}

pub const JOBS: &[Job] = &[
    Job { name: "hello", run: JobFunction::Compared(hello::run) },
    Job { name: "list", run: JobFunction::Compared(list::run) },
    Job { name: "again", run: JobFunction::Compared(again::run) },
    Job { name: "record", run: JobFunction::Compared(record::run) },
    Job { name: "agents", run: JobFunction::Compared(agents::run) },
    Job { name: "write", run: JobFunction::Compared(write::run) },
    Job { name: "seldom", run: JobFunction::Compared(write::run_seldom) },
    Job { name: "stream", run: JobFunction::Compared(stream::run) },
    Job { name: "idle", run: JobFunction::Written(idle::run) },
    Job { name: "payloads", run: JobFunction::Compared(payloads::run) },
    Job { name: "memory", run: JobFunction::Compared(memory::run) },
    Job { name: "payments", run: JobFunction::Compared(payments::run) },
    Job { name: "webhooks", run: JobFunction::Compared(webhooks::run) },
    Job { name: "search", run: JobFunction::Compared(search::run) },
    Job { name: "arena", run: JobFunction::Compared(arena::run) },
    Job { name: "flat", run: JobFunction::Compared(flat::run) },
    Job { name: "plugins", run: JobFunction::Compared(plugins::run) },
    Job { name: "postgres", run: JobFunction::Compared(postgres::run) },
    Job { name: "replicas", run: JobFunction::Written(replicas::run) },
    Job { name: "past", run: JobFunction::Compared(past::run) },
    Job { name: "chain", run: JobFunction::Compared(chain::run) },
    Job { name: "growth", run: JobFunction::Written(growth::run) },
    Job { name: "deposits", run: JobFunction::Written(deposits::run) },
    Job { name: "loadtest", run: JobFunction::Written(load_test::run) },
    Job { name: "trust", run: JobFunction::Written(trust::run) },
    Job { name: "credential", run: JobFunction::Written(credential::run) },
    Job { name: "transparency", run: JobFunction::Written(transparency::run) },
];

/// What a job found.
pub struct Comparison {
    pub title: &'static str,
    /// What exactly was measured, for readers of the table.
    pub how: String,
    pub operation: &'static str,
    /// The others are compared with the first.
    pub rows: Vec<Row>,
    pub goals: Vec<Goal>,
}

/// The goal of a row, about its CPU time for one operation unless said.
pub enum Goal {
    /// At most this part of another row.
    PartOf { row: &'static str, other: &'static str, max: f64 },
    /// At most this time.
    AtMostUs { row: &'static str, max: f64 },
    /// At most this time more than another row.
    AtMostUsMore { row: &'static str, other: &'static str, max: f64 },
    /// Takes at most so many times as long as another row, by the clock.
    LongerThan { row: &'static str, other: &'static str, max: f64 },
    /// Half of the operations take at most this time.
    MedianAtMostMs { row: &'static str, max: f64 },
    /// What was measured beside the table, in KiB.
    AtMostKib { what: String, found: f64, max: f64 },
}

pub const GATEWAY: &str = "gateway";
/// The gateway of `--beside`.
pub const BESIDE: &str = "the other gateway";
const FORGETFUL: &str = "gateway, cache_bytes_max = 0";
pub const AXUM_SQLX: &str = "axum + sqlx";
pub const FASTIFY: &str = "Fastify + better-sqlite3";
const HYPER: &str = "hyper, bytes from memory";

/// For jobs whose routes have limits per address of their own, which the configuration cannot raise.
pub const WITHOUT_LIMITS: (&str, &str) = ("limits.allow", "127.0.0.1");

/// The gateway with its response cache and without it, and the peers, each with a forum of its own.
fn readable_forums(bench: &Bench) -> Result<Vec<(&'static str, Server)>> {
    let mut servers = forum_servers(bench, Synchronous::Full)?;
    servers.insert(1, (FORGETFUL, bench.gateway_with_forum(&[("http.cache_bytes_max", "0")])?));
    Ok(servers)
}

/// The gateway and its peers, each with a forum of its own.
fn forum_servers(bench: &Bench, synchronous: Synchronous) -> Result<Vec<(&'static str, Server)>> {
    let mut servers = vec![(GATEWAY, bench.gateway_with_forum(&[synchronous.setting()])?)];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, other.gateway_on_copy(bench.forum()?, &[synchronous.setting()])?));
    }
    if bench.with_peers {
        servers.push((AXUM_SQLX, bench.axum_with_forum(synchronous)?));
        servers.extend(bench.fastify_with_forum(synchronous)?.map(|server| (FASTIFY, server)));
    }
    Ok(servers)
}

/// Every server must answer the same JSON; answers its size.
fn same_answers(servers: &[(&'static str, Server)], path: &str) -> Result<usize> {
    let mut first: Option<(Value, usize)> = None;
    for (name, server) in servers {
        let (status, _, body) = load::ask(server.address(), &load::get(server.address(), path))?;
        ensure!(status == 200, "{name} answers {status} to {path}: {}", String::from_utf8_lossy(&body));
        let value: Value = serde_json::from_slice(&body)?;
        let (expected, _) = first.get_or_insert_with(|| (value.clone(), body.len()));
        ensure!(*expected == value, "{name} answers {path} with another document:\n{value}\ninstead of\n{expected}");
    }
    Ok(first.map_or(0, |(_, bytes)| bytes))
}

/// A number that no request had before. In the query, where every server ignores it, it keeps caches of whole answers from
/// answering.
fn new_view() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

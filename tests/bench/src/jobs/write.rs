//! A signed write, acknowledged after its commit.

use super::{AXUM_SQLX, FASTIFY, GATEWAY, Goal, Outcome, forum_servers};
use crate::{
    bench::{Bench, FORUM, Synchronous},
    forum,
    load::{self, Counted, Load},
    rounds::{Contestant, Sample, in_turn},
    server::Server,
    signing,
};
use anyhow::{Result, ensure};
use rusqlite::{Connection, OpenFlags};
use std::{cell::Cell, time::Duration};

const PATH: &str = "/api/forum/threads";
/// Writes by which the number of requests for a round is estimated.
const PROBE: u64 = 256;
/// More requests than a server answered in its fastest round, so that none runs out of them early.
const SPARE: f64 = 1.4;
const UNTIL_DONE: Duration = Duration::from_secs(600);

pub fn run(bench: &Bench) -> Result<Vec<Outcome>> {
    let full = "on the disk before it is acknowledged (`synchronous=FULL`)";
    let normal = "acknowledged after its commit, which a power cut may undo (`synchronous=NORMAL`)";
    let many = bench.scale.writers;
    Ok(vec![
        writes(bench, many, Synchronous::Full, "A signed write, on the disk when acknowledged", full)?,
        writes(bench, 8, Synchronous::Full, "A signed write on 8 connections", full)?,
        writes(bench, 1, Synchronous::Full, "A signed write on one connection", full)?,
        writes(bench, many, Synchronous::Normal, "A signed write, acknowledged after commit", normal)?,
    ])
}

fn writes(
    bench: &Bench,
    connections: usize,
    synchronous: Synchronous,
    title: &'static str,
    durability: &str,
) -> Result<Outcome> {
    let servers = forum_servers(bench, synchronous)?;
    let writer = |server| Writer { connections, ..Writer::new(bench, server) };
    let writers: Vec<Writer> = servers.iter().map(|(_, server)| writer(server)).collect();
    let contestants =
        servers.iter().zip(&writers).map(|((name, _), writer)| Contestant::new(*name, || writer.measure()));
    let rows = in_turn(bench.scale.rounds, contestants.collect())?;
    for ((name, server), writer) in servers.iter().zip(&writers) {
        let stored = threads_in(server)?.saturating_sub(bench.scale.threads);
        let acknowledged = writer.acknowledged.get();
        ensure!(stored >= acknowledged, "{name} acknowledged {acknowledged} writes and stored {stored}");
    }
    Ok(Outcome {
        title,
        how: format!(
            "`POST {PATH}` on {connections} connections: a thread signed by EIP-191, each by a wallet of its own, {durability}. Every server checks form, time \
             and signature (SHA-256 of the canonical JSON), then stores replay guard, time of the last write, thread, post, three \
             tags and event in one transaction. The peers verify with ethers and with k256."
        ),
        operation: "write",
        rows,
        goals: vec![
            Goal::PartOf { row: GATEWAY, other: FASTIFY, max: 1.0 / 20.0 },
            Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.35 },
        ],
    })
}

/// Sends signed writes to one server; signs as many before as it will answer.
pub struct Writer<'a> {
    bench: &'a Bench,
    server: &'a Server,
    connections: usize,
    /// This many new requests to the server.
    requests: fn(&Server, u64) -> Result<Vec<Vec<u8>>>,
    /// What answers them.
    status: u16,
    per_s_max: Cell<f64>,
    pub acknowledged: Cell<u64>,
}

impl<'a> Writer<'a> {
    /// Of threads.
    pub fn new(bench: &'a Bench, server: &'a Server) -> Self {
        Self::of(bench, server, 201, threads)
    }

    pub fn of(
        bench: &'a Bench,
        server: &'a Server,
        status: u16,
        requests: fn(&Server, u64) -> Result<Vec<Vec<u8>>>,
    ) -> Self {
        let connections = bench.scale.writers;
        Self { bench, server, connections, requests, status, per_s_max: Cell::new(0.0), acknowledged: Cell::new(0) }
    }

    pub fn measure(&self) -> Result<Sample> {
        let scale = &self.bench.scale;
        if self.per_s_max.get() == 0.0 {
            self.per_s_max.set(self.send(PROBE, Duration::ZERO, UNTIL_DONE)?.per_s());
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of requests")]
        let count = (self.per_s_max.get() * SPARE * (scale.warm_up + scale.duration).as_secs_f64()) as u64 + PROBE;
        let counted = self.send(count, scale.warm_up, scale.duration)?;
        self.per_s_max.set(self.per_s_max.get().max(counted.per_s()));
        Sample::of(&counted, self.server)
    }

    fn send(&self, count: u64, warm_up: Duration, duration: Duration) -> Result<Counted> {
        let requests = (self.requests)(self.server, count)?;
        let request = |number: u64| requests.get(usize::try_from(number).ok()?).cloned();
        let load = Load {
            address: self.server.address(),
            connections: self.connections,
            warm_up,
            duration,
            requests: &request,
            status: self.status,
            body_bytes_min: 1,
        };
        let counted = load.run(&|| self.server.cpu_time())?;
        self.acknowledged.set(self.acknowledged.get() + counted.operations);
        Ok(counted)
    }
}

fn threads(server: &Server, count: u64) -> Result<Vec<Vec<u8>>> {
    let bodies = signing::threads(signing::new_wallets(count), signing::report)?;
    Ok(bodies.iter().map(|body| load::post(server.address(), PATH, body)).collect())
}

fn threads_in(server: &Server) -> Result<u64> {
    let database = Connection::open_with_flags(server.folder().join(FORUM), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    forum::count(&database)
}

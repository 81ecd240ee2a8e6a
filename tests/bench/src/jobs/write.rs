//! A signed write, acknowledged after its commit: as many as a server answers, and a few on one that does nothing else.

use super::{AXUM_SQLX, Comparison, FASTIFY, GATEWAY, Goal, forum_servers};
use crate::{
    bench::{Bench, FORUM, Synchronous},
    forum,
    load::{self, Load, LoadResult, Meter},
    rounds::{Contestant, Sample, in_turn},
    server::Server,
    signing,
};
use anyhow::{Context as _, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use std::{cell::Cell, net::SocketAddr, slice, thread, time::Duration};

const PATH: &str = "/api/forum/threads";
const SELDOM: Duration = Duration::from_millis(30);
/// Writes by which the number of requests for a round is estimated.
const PROBE: u64 = 256;
/// More requests than a server answered in its fastest round, so that none runs out of them early.
const SPARE: f64 = 1.4;
const UNTIL_DONE: Duration = Duration::from_secs(600);

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
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

/// What a write costs while nothing shares its commit, its wake-ups and the caches of the processor.
pub fn run_seldom(bench: &Bench) -> Result<Vec<Comparison>> {
    let servers = forum_servers(bench, Synchronous::Full)?;
    let writers: Vec<Writer> =
        servers.iter().map(|(_, server)| Writer { connections: 1, ..Writer::new(bench, server) }).collect();
    let contestants =
        servers.iter().zip(&writers).map(|((name, _), writer)| Contestant::new(*name, || writer.measure_seldom()));
    Ok(vec![Comparison {
        title: "A signed write every 30 ms",
        how: format!(
            "The same on one connection, {} ms apart, and nothing else. CPU time is without what the server used by itself in as \
             long a time before.",
            SELDOM.as_millis()
        ),
        operation: "write",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::AtMostUs { row: GATEWAY, max: 400.0 }],
    }])
}

fn writes(
    bench: &Bench,
    connections: usize,
    synchronous: Synchronous,
    title: &'static str,
    durability: &str,
) -> Result<Comparison> {
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
    Ok(Comparison {
        title,
        how: format!(
            "`POST {PATH}` on {connections} connections: a thread signed by EIP-191, each by a wallet of its own, {durability}. Every server checks form, time \
             and signature (SHA-256 of the canonical JSON), then stores replay guard, time of the last write, thread, post, three \
             tags and event in one transaction. The peers verify with ethers and with k256."
        ),
        operation: "write",
        rows,
        goals: vec![
            Goal::PartOf { row: GATEWAY, other: FASTIFY, max: 1.0 / 12.0 },
            Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.3 },
        ],
    })
}

/// Sends signed writes to one server, or to several in turn; signs as many before as they will answer.
pub struct Writer<'a> {
    bench: &'a Bench,
    servers: &'a [Server],
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

    /// Of threads, by connections that are spread over servers with one database.
    pub fn spread(bench: &'a Bench, servers: &'a [Server]) -> Self {
        Self::over(bench, servers, 201, threads)
    }

    pub fn of(
        bench: &'a Bench,
        server: &'a Server,
        status: u16,
        requests: fn(&Server, u64) -> Result<Vec<Vec<u8>>>,
    ) -> Self {
        Self::over(bench, slice::from_ref(server), status, requests)
    }

    fn over(
        bench: &'a Bench,
        servers: &'a [Server],
        status: u16,
        requests: fn(&Server, u64) -> Result<Vec<Vec<u8>>>,
    ) -> Self {
        let connections = bench.scale.writers;
        Self { bench, servers, connections, requests, status, per_s_max: Cell::new(0.0), acknowledged: Cell::new(0) }
    }

    pub fn measure(&self) -> Result<Sample> {
        let servers = self.servers;
        let (mut counted, [before, after]) = self.at_full_load(&|| Server::cpu_time_of(servers))?;
        counted.cpu = after.saturating_sub(before);
        Sample::of(&counted, self.first()?)
    }

    fn measure_seldom(&self) -> Result<Sample> {
        let (server, scale) = (self.first()?, &self.bench.scale);
        let before = server.cpu_time()?;
        thread::sleep(scale.duration);
        let by_itself = server.cpu_time()?.saturating_sub(before);
        let count = self.requests_for(1.0 / SELDOM.as_secs_f64());
        let (mut counted, [before, after]) =
            self.send(count, Some(SELDOM), scale.warm_up, scale.duration, &|| server.cpu_time())?;
        counted.cpu = after.saturating_sub(before).saturating_sub(by_itself);
        Sample::of(&counted, server)
    }

    /// As fast as the answers come.
    pub fn at_full_load<M: Send>(&self, meter: Meter<'_, M>) -> Result<(LoadResult, [M; 2])> {
        if self.per_s_max.get() == 0.0 {
            let (probe, _) = self.send(PROBE, None, Duration::ZERO, UNTIL_DONE, &|| Ok(()))?;
            self.per_s_max.set(probe.per_s());
        }
        let scale = &self.bench.scale;
        let count = self.requests_for(self.per_s_max.get());
        let (counted, metered) = self.send(count, None, scale.warm_up, scale.duration, meter)?;
        self.per_s_max.set(self.per_s_max.get().max(counted.per_s()));
        Ok((counted, metered))
    }

    /// So many writes per second, whatever the servers do.
    pub fn paced(&self, per_s: f64) -> Result<LoadResult> {
        let scale = &self.bench.scale;
        let pace = Duration::from_secs_f64(self.connections as f64 / per_s);
        let count = self.requests_for(per_s);
        self.send(count, Some(pace), scale.warm_up, scale.duration, &|| Ok(())).map(|(counted, _)| counted)
    }

    /// Enough for a round at this rate.
    fn requests_for(&self, per_s: f64) -> u64 {
        let scale = &self.bench.scale;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of requests")]
        let count = (per_s * SPARE * (scale.warm_up + scale.duration).as_secs_f64()) as u64;
        count + PROBE
    }

    fn send<M: Send>(
        &self,
        count: u64,
        pace: Option<Duration>,
        warm_up: Duration,
        duration: Duration,
        meter: Meter<'_, M>,
    ) -> Result<(LoadResult, [M; 2])> {
        let requests = (self.requests)(self.first()?, count)?;
        let request = |number: u64| requests.get(usize::try_from(number).ok()?).cloned();
        let addresses: Vec<SocketAddr> = self.servers.iter().map(Server::address).collect();
        let load = Load {
            addresses: &addresses,
            connections: self.connections,
            pace,
            warm_up,
            duration,
            requests: &request,
            status: self.status,
            body_bytes_min: 1,
        };
        let (counted, metered) = load.run_metered(meter)?;
        self.acknowledged.set(self.acknowledged.get() + counted.operations);
        Ok((counted, metered))
    }

    fn first(&self) -> Result<&'a Server> {
        self.servers.first().context("no server to write to")
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

//! Signed writes on PostgreSQL: one gateway and three, with a way of 1 ms to the database and back, beside SQLite and beside
//! pgbench with the same statements.
//!
//! The rule: all contestants write durably to databases that began with the same threads.

mod database;
mod lock_waits;
mod pgbench;
mod section;
mod statements;
mod table;

use super::write::Writer;
use crate::{
    bench::{Bench, Synchronous},
    delay_proxy::DelayProxy,
    forum,
    load::LoadResult,
    server::Server,
    settle::settle,
    signing,
};
use anyhow::{Context as _, Result, ensure};
use database::Database;
use lock_waits::{LockSampler, LockWaits};
use pgbench::{Form, Pgbench};
use std::time::Duration;
use table::{Entry, Figures, ONE, THREE};

/// Of one way, so that a round trip takes twice as long.
const DELAY: Duration = Duration::from_micros(500);
/// Connections to PostgreSQL, of all gateways of a group.
const POOL_MAX: u32 = 16;

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let server = match database::Server::start() {
        Ok(server) => server,
        Err(error) => {
            bench.lacks(&format!("PostgreSQL: apt-get install postgresql ({error:#})"));
            return Ok(Vec::new());
        }
    };
    let base = Database::create(&server, "one_direct")?;
    let statements = fill(bench, base)?;
    let proxy = DelayProxy::start(&server.postgres().socket(), DELAY)?;
    // Copied before a gateway is connected to the first one.
    let peers = peers(bench, base, &proxy)?;
    let groups = groups(bench, base, &proxy)?;
    let contestants = groups.iter().map(|group| group.contestant(bench)).chain(peers);
    let contestants: Vec<Contestant<'_, '_>> = contestants.collect();
    let rounds = measure_in_turn(bench.scale.rounds, &contestants)?;
    // The last connections report what they rolled back when they end.
    let tallies: Vec<WriteCounts<'_>> = contestants.into_iter().map(Contestant::into_write_counts).collect();
    for server in groups.into_iter().flat_map(|group| group.servers) {
        server.stop()?;
    }
    let entries = tallies.iter().zip(rounds).map(|(tally, rounds)| tally.entry(rounds));
    let entries = entries.collect::<Result<Vec<_>>>()?;
    Ok(vec![section::section(bench, &server, &entries, &statements)?])
}

/// Writes the threads through a gateway that is gone then; answers the statements of one more write.
fn fill(bench: &Bench, database: Database<'_>) -> Result<Vec<String>> {
    let gateway = gateway(bench, &database.url(), 1)?;
    forum::fill(bench, &gateway)?;
    let write = || bench.write_signed(&gateway, "thread.create", (1, 201), signing::report, forum::create_thread);
    let statements = statements::of_a_write(database.server, write)?;
    gateway.stop()?;
    Ok(statements)
}

/// One of `count` gateways on a database. Together they have as many connections as one has alone.
fn gateway(bench: &Bench, url: &str, count: u32) -> Result<Server> {
    let pool_max = (POOL_MAX / count).to_string();
    bench.gateway(&[("database.url", url), ("database.listen_url", url), ("database.pool_max", &pool_max)])
}

/// Gateways on one database.
struct Group<'a> {
    name: &'static str,
    servers: Vec<Server>,
    store: Option<Store<'a>>,
    proxy: Option<&'a DelayProxy>,
}

/// A database of PostgreSQL, and what was in it at the start.
#[derive(Clone, Copy)]
struct Store<'a> {
    database: Database<'a>,
    threads: u64,
    rolled_back: u64,
}

impl<'a> Store<'a> {
    fn of(database: Database<'a>) -> Result<Self> {
        Ok(Self { database, threads: database.threads()?, rolled_back: database.rolled_back()? })
    }
}

fn groups<'a>(bench: &Bench, base: Database<'a>, proxy: &'a DelayProxy) -> Result<Vec<Group<'a>>> {
    let sqlite = bench.gateway_with_forum(&[Synchronous::Full.setting()])?;
    let (one, three) = (base.copy("one")?, base.copy("three")?);
    let on = |name, database: Database<'a>, url: String, count, proxy| {
        let store = Some(Store::of(database)?);
        let servers = (0..count).map(|_| gateway(bench, &url, count)).collect::<Result<_>>()?;
        Ok::<_, anyhow::Error>(Group { name, servers, store, proxy })
    };
    Ok(vec![
        Group { name: "1 gateway on SQLite", servers: vec![sqlite], store: None, proxy: None },
        on("1 gateway, PostgreSQL on the same machine", base, base.url(), 1, None)?,
        on(ONE, one, one.url_through(proxy.address()), 1, Some(proxy))?,
        on(THREE, three, three.url_through(proxy.address()), 3, Some(proxy))?,
    ])
}

impl<'a> Group<'a> {
    fn contestant<'g>(&'g self, bench: &'g Bench) -> Contestant<'g, 'a> {
        let work = Workload::Gateways { servers: &self.servers, writer: Writer::spread(bench, &self.servers) };
        Contestant { name: self.name, work, store: self.store, proxy: self.proxy }
    }
}

/// pgbench, where it is installed.
fn peers<'a>(bench: &'a Bench, base: Database<'a>, proxy: &'a DelayProxy) -> Result<Vec<Contestant<'a, 'a>>> {
    if !bench.with_peers {
        return Ok(Vec::new());
    }
    if pgbench::program().is_none() {
        bench.lacks("pgbench: apt-get install postgresql");
        return Ok(Vec::new());
    }
    let peer = |name, form, database: Database<'a>| {
        let work = Workload::Pgbench(Pgbench { bench, database, proxy: proxy.address(), form });
        Ok::<_, anyhow::Error>(Contestant { name, work, store: Some(Store::of(database)?), proxy: Some(proxy) })
    };
    Ok(vec![
        peer("pgbench, 1 ms, a round trip per statement", Form::RoundTrips, base.copy("pgbench_round_trips")?)?,
        peer("pgbench, 1 ms, statements pipelined", Form::Pipeline, base.copy("pgbench_pipeline")?)?,
    ])
}

struct Contestant<'g, 'a> {
    name: &'static str,
    work: Workload<'g>,
    store: Option<Store<'a>>,
    proxy: Option<&'a DelayProxy>,
}

enum Workload<'a> {
    Gateways { servers: &'a [Server], writer: Writer<'a> },
    Pgbench(Pgbench<'a>),
}

/// What was used so far.
struct Reading {
    gateways: Duration,
    postgres: Duration,
    round_trips: u64,
}

fn measure_in_turn(rounds: usize, contestants: &[Contestant<'_, '_>]) -> Result<Vec<Vec<Figures>>> {
    let mut found = vec![Vec::new(); contestants.len()];
    for round in 1..=rounds {
        for (contestant, found) in contestants.iter().zip(&mut found) {
            settle()?;
            let figures = contestant.measure().with_context(|| contestant.name)?;
            let Figures { per_s, p99_us, waits, .. } = &figures;
            println!(
                "  {round}/{rounds} {:<42} {per_s:8.0}/s  99 % in {p99_us:.0} µs  waits for locks: {}",
                contestant.name,
                waits.cell()
            );
            found.push(figures);
        }
    }
    Ok(found)
}

impl<'a> Contestant<'_, 'a> {
    fn measure(&self) -> Result<Figures> {
        let sampler = self.store.map(|Store { database, .. }| {
            LockSampler::start(database.server.postgres().url("postgres"), database.name)
        });
        let sampler = sampler.transpose()?;
        let sampling = sampler.as_ref().map(|sampler| sampler.pid);
        let (counted, [before, after]) = self.at_full_load(sampling)?;
        let waits = sampler.map_or_else(|| Ok(LockWaits::default()), LockSampler::stop)?;
        let writes = counted.operations as f64;
        let ms = |before: Duration, after: Duration| after.saturating_sub(before).as_secs_f64() * 1e3 / writes;
        let has_gateways = matches!(self.work, Workload::Gateways { .. });
        Ok(Figures {
            per_s: counted.per_s(),
            gateway_ms: has_gateways.then(|| ms(before.gateways, after.gateways)),
            postgres_ms: self.store.map(|_| ms(before.postgres, after.postgres)),
            p50_us: counted.within_us(0.5),
            p99_us: counted.within_us(0.99),
            half_load_p99_us: self.half_load_p99_us(counted.per_s() / 2.0)?,
            round_trips: self.proxy.map(|_| after.round_trips.saturating_sub(before.round_trips) as f64 / writes),
            waits,
        })
    }

    fn at_full_load(&self, sampling: Option<i32>) -> Result<(LoadResult, [Reading; 2])> {
        let (proxy, store) = (self.proxy, self.store);
        let reading = |servers: &[Server]| {
            let postgres = store.map(|store| store.database.server.cpu_time(sampling.unwrap_or_default()));
            Ok(Reading {
                gateways: Server::cpu_time_of(servers)?,
                postgres: postgres.transpose()?.unwrap_or_default(),
                round_trips: proxy.map_or(0, DelayProxy::round_trips),
            })
        };
        match &self.work {
            Workload::Gateways { servers, writer } => {
                let servers = *servers;
                writer.at_full_load(&|| reading(servers))
            }
            Workload::Pgbench(pgbench) => pgbench.measure(|| reading(&[])),
        }
    }

    /// Of the gateways: pgbench is there for what the database can do.
    fn half_load_p99_us(&self, per_s: f64) -> Result<Option<f64>> {
        let Workload::Gateways { writer, .. } = &self.work else { return Ok(None) };
        settle()?;
        Ok(Some(writer.paced(per_s)?.within_us(0.99)))
    }

    /// What is left to look at when the gateways are gone.
    fn into_write_counts(self) -> WriteCounts<'a> {
        let acknowledged = match &self.work {
            Workload::Gateways { writer, .. } => writer.acknowledged.get(),
            Workload::Pgbench(_) => 0,
        };
        WriteCounts { name: self.name, store: self.store, acknowledged }
    }
}

struct WriteCounts<'a> {
    name: &'static str,
    store: Option<Store<'a>>,
    acknowledged: u64,
}

impl WriteCounts<'_> {
    fn entry(&self, rounds: Vec<Figures>) -> Result<Entry> {
        let aborted = self.store.map(|store| {
            let stored = store.database.threads()?.saturating_sub(store.threads);
            let Self { name, acknowledged, .. } = self;
            ensure!(stored >= *acknowledged, "{name} acknowledged {acknowledged} writes and stored {stored}");
            let rolled_back = store.database.rolled_back()?.saturating_sub(store.rolled_back);
            Ok(rolled_back as f64 / (rolled_back + stored).max(1) as f64)
        });
        Ok(Entry { name: self.name, rounds, aborted: aborted.transpose()? })
    }
}

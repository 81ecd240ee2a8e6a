//! Events to all readers of a stream: single ones, and bursts.

use super::{BESIDE, Comparison, GATEWAY, Goal};
use crate::{
    bench::{self, Bench},
    load::{self, LoadResult, streams::Streams},
    peers::{self, nchan, stream},
    rounds::{Contestant, Sample, in_turn},
    server::{Server, Site},
    signing,
};
use anyhow::Result;
use std::time::Duration;

const AXUM: &str = "axum Sse + broadcast";
const NCHAN: &str = "nchan";
const PACE: Duration = Duration::from_millis(50);
const BURST: usize = 16;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let [few, many] = bench.scale.streams;
    let to_few = deliveries(bench, few, 1, "A live event to 500 readers")?;
    let mut to_many = deliveries(bench, many, 1, "A live event to 3,000 readers")?;
    to_many.goals.extend(memory_per_reader(&to_few, &to_many, many - few));
    Ok(vec![
        to_few,
        to_many,
        deliveries(bench, few, BURST, "Bursts of 16 events to 500 readers")?,
        deliveries(bench, many, BURST, "Bursts of 16 events to 3,000 readers")?,
    ])
}

/// What each more of the readers takes, of the gateway.
fn memory_per_reader(to_few: &Comparison, to_many: &Comparison, more: usize) -> Option<Goal> {
    let rss_kib = |outcome: &Comparison| {
        let row = outcome.rows.iter().find(|row| row.name == GATEWAY)?;
        Some(row.median(|sample| sample.rss_kib as f64))
    };
    let found = (rss_kib(to_many)? - rss_kib(to_few)?) / more as f64;
    let what = format!("{GATEWAY}, memory of a reader (the difference to fewer readers)");
    Some(Goal::AtMostKib { what, found, max: 6.0 })
}

fn deliveries(bench: &Bench, readers: usize, burst: usize, title: &'static str) -> Result<Comparison> {
    let mut servers = vec![(GATEWAY, bench.gateway(&[])?)];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, other.gateway(&[])?));
    }
    if bench.with_peers {
        servers.push((AXUM, start_axum()?));
        if nchan::is_installed() {
            servers.push((NCHAN, nchan::start()?));
        } else {
            bench.lacks(&format!("nchan: apt-get install {}", nchan::PACKAGES));
        }
    }
    let contestants = servers
        .iter()
        .map(|(name, server)| Contestant::new(*name, move || Fan { bench, name, server, readers, burst }.measure()));
    Ok(Comparison {
        title,
        how: format!(
            "`GET /api/stream`, {readers} readers. {} at the same moment, the next when every reader has the last, at the \
             earliest after {} ms; {} in all. The gateway's events come from signed writes, the peers' from `POST /publish` with \
             the same line of data; what publishing takes is measured in the same round without readers and taken off. Latency \
             is from the request to publish; the gateway's has the write's commit in it.",
            if burst == 1 { "One event".to_owned() } else { format!("{burst} events") },
            PACE.as_millis(),
            events(bench, burst),
        ),
        operation: "delivery",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: GATEWAY, other: NCHAN, max: if burst == 1 { 1.0 } else { 0.2 } }],
    })
}

/// A burst less than 8 times says little.
fn events(bench: &Bench, burst: usize) -> usize {
    if burst == 1 { bench.scale.events } else { bench.scale.events * 2 }
}

fn start_axum() -> Result<Server> {
    let site = Site::new()?;
    let mut command = bench::peer(stream::NAME)?;
    command.env(peers::LISTEN, site.address.to_string());
    Server::start(site, command, "/ready")
}

struct Fan<'a> {
    bench: &'a Bench,
    name: &'static str,
    server: &'a Server,
    readers: usize,
    burst: usize,
}

impl Fan<'_> {
    fn measure(&self) -> Result<Sample> {
        let alone = self.send_to(0)?;
        let mut counted = self.send_to(self.readers)?;
        counted.cpu = counted.cpu.saturating_sub(alone.cpu);
        Sample::of(&counted, self.server)
    }

    fn send_to(&self, readers: usize) -> Result<LoadResult> {
        let events = self.events()?;
        let bursts: Vec<Vec<Vec<u8>>> = events.chunks(self.burst).map(<[_]>::to_vec).collect();
        let address = self.server.address();
        let streams = Streams { address, path: "/api/stream", readers, bursts: &bursts, pace: PACE };
        streams.run(&|| self.server.cpu_time())
    }

    /// Requests that publish one event each.
    fn events(&self) -> Result<Vec<Vec<u8>>> {
        let (address, count) = (self.server.address(), events(self.bench, self.burst));
        let wallets = signing::new_wallets(u64::try_from(count)?);
        if [GATEWAY, BESIDE].contains(&self.name) {
            let bodies = signing::threads(wallets, signing::note)?;
            return Ok(bodies.iter().map(|body| load::post(address, "/api/forum/threads", body)).collect());
        }
        Ok(wallets.map(|number| load::post(address, stream::PUBLISH, data(number).as_bytes())).collect())
    }
}

/// The line of data that the gateway sends for [`signing::note`].
fn data(number: u64) -> String {
    format!(
        "{{\"id\":{number},\"type\":\"thread.create\",\"ts\":1795277040,\"at\":1795277040,\"actor\":{{\"address\":\
         \"0xa5416A8C87EF647Fe9D03637eB58108815eF2166\",\"name\":null,\"agentId\":null}},\"ref\":{{\"kind\":\"thread\",\"id\":\
         \"{number}\"}},\"data\":{{\"threadId\":{number},\"title\":\"Note {number}\",\"tags\":[\"note\"],\"excerpt\":\
         \"Every reader of the stream gets this.\"}}}}"
    )
}

//! One durable delivery: from the due row to the row that says what became of it.

use super::{
    MESSAGES, Receiver, SECRET, WEBHOOKS, messages, number_of, owner, post, register, settings, signed, wait_for,
};
use crate::{
    bench::{Bench, Synchronous, keep_forum, peer_on_copy},
    jobs::{BESIDE, Comparison, GATEWAY, Goal},
    load::{self, LoadResult},
    rounds::{Contestant, Sample, in_turn},
    server::{Server, Site},
    signing,
};
use anyhow::{Result, ensure};
use serde_json::json;
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

const NODE: &str = "Node, undici + better-sqlite3";
const PENDING: &str = "SELECT count(*) FROM webhooks_deliveries WHERE status = 'pending'";
const DONE: &str = "SELECT count(*) FROM webhooks_deliveries WHERE status = 'ok'";
const LIMIT: Duration = Duration::from_secs(300);

pub fn outcome(bench: &Bench, receiver: &Receiver) -> Result<Comparison> {
    let [endpoints, each] = bench.scale.deliveries;
    let file = bench.folder().join("deliveries.db");
    make(bench, receiver, &file)?;
    let mut servers = vec![(GATEWAY, bench.gateway_on_copy(&file, &settings())?)];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, other.gateway_on_copy(&file, &settings())?));
    }
    if bench.with_peers {
        servers.extend(node(bench, &file)?.map(|server| (NODE, server)));
    }
    let contestants = servers
        .iter()
        .map(|(name, server)| Contestant::new(*name, move || DeliveryRun { bench, server, receiver }.deliver(name)));
    Ok(Comparison {
        title: "A durable delivery of a webhook",
        how: format!(
            "{endpoints} endpoints with {each} deliveries each, all put back at the same moment, until every row says that it was \
             delivered: each is sent by `POST` on kept-alive connections, signed for both families of headers, and its outcome is \
             on the disk. An endpoint gets one at a time, in order. The worker on Node polls the same rows; the gateway also takes a \
             lease for each call, checks the address, opens the sealed secret and puts the backlog back by signed requests. \
             Latency is from the start to the arrival, so it tells how long the backlog lasts. svix-server is not beside it: no \
             package registry has it, and it needs Redis."
        ),
        operation: "delivery",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::AtMostUs { row: GATEWAY, max: 30.0 }],
    })
}

/// A database whose deliveries were all made, from signed messages.
fn make(bench: &Bench, receiver: &Receiver, file: &Path) -> Result<()> {
    let [endpoints, each] = bench.scale.deliveries;
    println!("  {} deliveries are made", endpoints * each);
    let gateway = bench.gateway_in(Site::new()?, &settings())?;
    register(bench, &gateway, receiver, [endpoints, 1])?;
    for _ in 0..each {
        let bodies = messages(signing::new_wallets(endpoints), |number| owner(number).address().to_owned())?;
        bench.write_all(&gateway, &bodies, 201, |address, _, body| load::post(address, MESSAGES, body))?;
    }
    wait_for(&gateway, DONE, endpoints * each)?;
    receiver.take_arrivals();
    keep_forum(gateway, file).map(drop)
}

/// Nothing on a machine without Node or its packages.
fn node(bench: &Bench, file: &Path) -> Result<Option<Server>> {
    let Some(mut command) = bench.fastify("webhooks.mjs") else { return Ok(None) };
    command.env("BENCH_SECRET", SECRET);
    peer_on_copy(command, file, Synchronous::Full, "/ready").map(Some)
}

struct DeliveryRun<'a> {
    bench: &'a Bench,
    server: &'a Server,
    receiver: &'a Receiver,
}

impl DeliveryRun<'_> {
    fn deliver(&self, name: &str) -> Result<Sample> {
        let [endpoints, each] = self.bench.scale.deliveries;
        ensure!(number_of(self.server, DONE)? == endpoints * each, "a delivery of the round before is not done");
        self.receiver.take_arrivals();
        let (started, before) = (Instant::now(), self.server.cpu_time()?);
        if name == NODE {
            post(self.server, "/replay", b"{}", 200)?;
        } else {
            self.replay(endpoints)?;
        }
        let all = usize::try_from(endpoints * each)?;
        while self.receiver.arrived() < all {
            ensure!(started.elapsed() < LIMIT, "{} of {all} arrived: {}", self.receiver.arrived(), self.server.log());
            thread::sleep(Duration::from_millis(1));
        }
        wait_for(self.server, PENDING, 0)?;
        let (took, after) = (started.elapsed(), self.server.cpu_time()?);
        let arrivals = self.receiver.take_arrivals();
        ensure!(arrivals.len() == all, "{} arrived instead of {all}", arrivals.len());
        let latency = |arrival: &Instant| u64::try_from((*arrival - started).as_micros()).unwrap_or(u64::MAX);
        let mut latencies_us: Vec<u64> = arrivals.iter().map(latency).collect();
        latencies_us.sort_unstable();
        let counted = LoadResult { operations: all as u64, took, cpu: after.saturating_sub(before), latencies_us };
        Sample::of(&counted, self.server)
    }

    /// Each owner asks for his own.
    fn replay(&self, endpoints: u64) -> Result<()> {
        for (number, id) in (0..endpoints).zip(self.webhook_ids(endpoints)?) {
            let payload = json!({ "id": id, "since": 0, "status": "all" });
            let body = signed(&owner(number), "webhook.replay", &payload)?;
            post(self.server, &format!("{WEBHOOKS}/{id}/replay"), &body, 202)?;
        }
        Ok(())
    }

    /// Of the owners with these numbers, in their order: each has one.
    fn webhook_ids(&self, endpoints: u64) -> Result<Vec<u64>> {
        let id = |number| {
            let select = format!("SELECT id FROM webhooks_endpoints WHERE url LIKE '%/{number}'");
            number_of(self.server, &select)
        };
        (0..endpoints).map(id).collect()
    }
}

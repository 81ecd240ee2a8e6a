//! What each recipient of an event costs until its delivery and its task are stored.

use super::{MESSAGES, listeners::RegisteredWebhooks, messages, number_of, owner, post, settings, wait_for};
use crate::{
    bench::Bench,
    jobs::{Comparison, GATEWAY, Goal},
    load::LoadResult,
    rounds::{Contestant, Sample, in_turn},
    signing,
};
use anyhow::{Result, ensure};
use std::time::Instant;

const STORED: &str = "SELECT count(*) FROM webhooks_deliveries";

pub fn outcome(bench: &Bench, registered: &RegisteredWebhooks) -> Result<Comparison> {
    let [owners, each] = bench.scale.listeners;
    let measure = || fan_out(bench, registered);
    Ok(Comparison {
        title: "An event for many webhooks",
        how: format!(
            "{owners} messages, one after the other, each to a wallet with {each} webhooks: until the {} deliveries and their tasks \
             are on the disk, with what the messages themselves take. Nothing is sent, because the only place is taken by an \
             endpoint that does not answer. Latency is that of all deliveries.",
            owners * each
        ),
        operation: "recipient",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(GATEWAY, measure)])?,
        goals: vec![Goal::AtMostUs { row: GATEWAY, max: 5.0 }],
    })
}

/// By a gateway of its own, so that what the round before has stored does not count.
fn fan_out(bench: &Bench, registered: &RegisteredWebhooks) -> Result<Sample> {
    let [owners, each] = bench.scale.listeners;
    let one_place = ("plugins.webhooks.endpoints_at_once", "1");
    let gateway = bench.gateway_on_copy(&registered.file, &[&settings()[..], &[one_place]].concat())?;
    ensure!(number_of(&gateway, STORED)? == 0, "there are deliveries already");
    let bodies = messages(signing::new_wallets(owners), |number| owner(number).address().to_owned())?;
    let (started, before) = (Instant::now(), gateway.cpu_time()?);
    for body in &bodies {
        post(&gateway, MESSAGES, body, 201)?;
    }
    wait_for(&gateway, STORED, owners * each)?;
    let (took, after) = (started.elapsed(), gateway.cpu_time()?);
    let took_us = u64::try_from(took.as_micros())?;
    let cpu = after.saturating_sub(before);
    Sample::of(&LoadResult { operations: owners * each, took, cpu, latencies_us: vec![took_us] }, &gateway)
}

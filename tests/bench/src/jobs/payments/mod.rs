//! Payments: the check of a voucher, and calls of agents, paid, free and beside nginx as a proxy.

mod calls;
mod market;
mod verify;
mod voucher;

use super::Comparison;
use crate::{bench::Bench, load::Load, rounds::Sample, server::Server};
use anyhow::{Result, ensure};
use market::Market;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Vouchers are signed before the time is taken: more than a server takes in a second.
const PER_S_MAX: f64 = 15_000.0;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let runtime = Runtime::new()?;
    let market = Market::open(bench, &runtime)?;
    let mut outcomes = vec![verify::outcome(bench, &market)?, calls::paid(bench, &market)?];
    outcomes.extend(calls::forwarded(bench, &market)?);
    Ok(outcomes)
}

/// How many requests a round may take.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of requests")]
fn per_round(bench: &Bench) -> u64 {
    ((bench.scale.warm_up + bench.scale.duration).as_secs_f64() * PER_S_MAX) as u64
}

/// Each request once, on the connections that read.
fn measure(bench: &Bench, server: &Server, requests: &[Vec<u8>]) -> Result<Sample> {
    let request = |number: u64| requests.get(usize::try_from(number).ok()?).cloned();
    let load = Load {
        addresses: &[server.address()],
        connections: bench.scale.readers,
        pace: None,
        warm_up: bench.scale.warm_up,
        duration: bench.scale.duration,
        requests: &request,
        status: 200,
        body_bytes_min: 1,
    };
    Sample::of(&load.run(&|| server.cpu_time())?, server)
}

/// A gateway whose plugins have just started may not take payments yet.
const READY: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// What is measured must be what is meant.
fn expect(server: &Server, request: &[u8], part: &str) -> Result<()> {
    let deadline = Instant::now() + READY;
    let (status, _, body) = loop {
        let answer = crate::load::ask(server.address(), request)?;
        if answer.0 != 503 || Instant::now() > deadline {
            break answer;
        }
        std::thread::sleep(PAUSE);
    };
    let text = String::from_utf8_lossy(&body);
    ensure!(status == 200 && text.contains(part), "{status} instead of 200 with {part}: {text}");
    Ok(())
}

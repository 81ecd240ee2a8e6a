//! How much others feel of it: `cargo xtask abuse` prints, for each abuse, the p99 of clients that behave without it and
//! with it. A measurement, because what it says depends on the machine: abusers and gateway share its processors.

use super::{abuse::ABUSES, neighbours::Neighbours};
use crate::e2e::setup;
use gateway_tests::process::GatewayProcess;
use std::time::Duration;

const NEIGHBOURS: usize = 4;
const SECONDS: u64 = 5;

/// The 99th percentile of what neighbours wait for within the time.
async fn p99(gateway: &GatewayProcess, time: Duration) -> Duration {
    let neighbours = Neighbours::move_in(gateway, NEIGHBOURS);
    tokio::time::sleep(time).await;
    let mut latencies = neighbours.move_out().await;
    latencies.sort_unstable();
    latencies[latencies.len() * 99 / 100]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: cargo xtask abuse"]
async fn p99_of_those_who_behave() {
    let seconds = std::env::var("ABUSE_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let time = Duration::from_secs(seconds);
    println!("{:<22}{:>14}{:>14}{:>8}", "abuse", "p99 without", "p99 with", "ratio");
    for abuse in &ABUSES {
        // One gateway each, so that none pays for what came before; with the limits that an operator gets.
        let gateway = setup().start().await.unwrap();
        p99(&gateway, Duration::from_secs(1)).await;
        let without = p99(&gateway, time).await;
        let abusers = abuse.begin(gateway.address().parse().unwrap(), |_: &[u8]| {});
        let with = p99(&gateway, time).await;
        drop(abusers);
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        let us = |time: Duration| format!("{} µs", time.as_micros());
        println!("{:<22}{:>14}{:>14}{ratio:>8.2}", abuse.name, us(without), us(with));
    }
}

//! Whatever one client does: the gateway responds as expected and ends its connections in time, serves the others, and
//! does not grow.

use super::{
    abuse::{ABUSES, ABUSIVE, Abuse, BEHAVED},
    neighbours::Neighbours,
};
use crate::{all_plugins::assert_no_errors_logged, e2e::setup};
use gateway_tests::process::GatewayProcess;
use rstest::rstest;
use std::{net::IpAddr, time::Duration};
use tokio::sync::mpsc;

/// The growth of its memory; a flood that is buffered somewhere would exceed it by far.
const GROWTH_KIB_MAX: u64 = 96 * 1024;
const SERVED_MIN: u64 = 30;
/// For abuse to be ended: far above the limits that are set below.
const LIMIT: Duration = Duration::from_secs(60);

async fn impatient() -> GatewayProcess {
    let setup = setup().set("http.header_read_timeout_ms", 1000).set("http.body_timeout_ms", 1000);
    setup.set("http.idle_timeout_ms", 5000).set("limits.allow", "127.0.0.0/8").start().await.unwrap()
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_at_another_address_are_served(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)] number: usize,
) {
    assert_served_during(&ABUSES[number], BEHAVED).await;
}

/// The abuser leaves connections of its address free, and no limit of requests is set here: `shared_address` has both.
#[rstest]
#[case::slow_heads(0)]
#[case::malformed_heads(5)]
#[case::searches(8)]
#[case::rapid_reset(9)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_at_the_same_address_are_served(#[case] number: usize) {
    assert_served_during(&ABUSES[number], ABUSIVE).await;
}

async fn assert_served_during(abuse: &'static Abuse, neighbours_at: IpAddr) {
    let gateway = impatient().await;
    abuse.prepare(&gateway, 2_000).await;
    let neighbours = Neighbours::start(&gateway, neighbours_at, 2, Duration::ZERO);
    let (before_kib, _) = gateway.memory_kib().unwrap();
    let (sender, mut rounds) = mpsc::unbounded_channel();
    let abusers = abuse.begin(gateway.address().parse().unwrap(), move |received: &[u8]| {
        // The test may not read any more.
        let _ = sender.send(received.to_vec());
    });
    let in_time = tokio::time::timeout(LIMIT, async {
        let mut ended = 0;
        while ended < abuse.connections || neighbours.served() < SERVED_MIN {
            let received = rounds.recv().await.unwrap();
            ended += 1;
            let said = String::from_utf8_lossy(&received);
            assert!((abuse.is_expected)(&received), "{}: {} bytes, {:.500}", abuse.name, received.len(), said);
        }
    });
    assert!(in_time.await.is_ok(), "{}: not ended, or nobody else is served", abuse.name);
    drop(abusers);
    let latencies = neighbours.stop().await;
    assert!(latencies.len() as u64 >= SERVED_MIN);
    let (_, peak_kib) = gateway.memory_kib().unwrap();
    assert!(peak_kib < before_kib + GROWTH_KIB_MAX, "{}: from {before_kib} to {peak_kib} KiB", abuse.name);
    assert_no_errors_logged(&gateway);
}

//! Whatever is done to the gateway: it says what is due and ends it in time, those who behave are all served, and it does
//! not grow.

use super::{
    abuse::{ABUSES, Abuse},
    neighbours::Neighbours,
};
use crate::e2e::setup;
use gateway_tests::process::GatewayProcess;
use rstest::rstest;
use std::{sync::mpsc, time::Duration};

/// Beyond what it had before; a flood that is kept somewhere would be far above.
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
async fn those_who_behave_are_served(#[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)] number: usize) {
    let abuse: &'static Abuse = &ABUSES[number];
    let gateway = impatient().await;
    let neighbours = Neighbours::move_in(&gateway, 2, Duration::ZERO);
    let (before_kib, _) = gateway.memory_kib().unwrap();
    let (sender, rounds) = mpsc::channel();
    let abusers = abuse.begin(gateway.address().parse().unwrap(), move |heard: &[u8]| {
        // The test may have heard enough.
        let _ = sender.send(heard.to_vec());
    });
    let in_time = tokio::time::timeout(LIMIT, async {
        let mut ended = 0;
        while ended < abuse.lanes || neighbours.served() < SERVED_MIN {
            for heard in rounds.try_iter() {
                ended += 1;
                let said = String::from_utf8_lossy(&heard);
                assert!((abuse.is_well_answered)(&heard), "{}: {:.500}", abuse.name, said);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(in_time.await.is_ok(), "{}: not ended, or nobody else is served", abuse.name);
    drop(abusers);
    let latencies = neighbours.move_out().await;
    assert!(latencies.len() as u64 >= SERVED_MIN);
    let (_, peak_kib) = gateway.memory_kib().unwrap();
    assert!(peak_kib < before_kib + GROWTH_KIB_MAX, "{}: from {before_kib} to {peak_kib} KiB", abuse.name);
    let log = gateway.setup().log();
    for word in ["panicked", "ERROR", "\"level\":\"ERROR\""] {
        assert!(!log.contains(word), "{}: {word} is in the log", abuse.name);
    }
}

//! A plugin that goes off and on, while the others work; `TOGGLES` says how often.

use super::{call, gateway_with, switched};
use plugin_testing::{Wallet, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

/// Enough to see 80 KiB that each of them leaves behind.
const TOGGLES: u32 = 250;
const GROWTH_MAX_KIB: u64 = 16 * 1024;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn toggles_cost_the_others_nothing() {
    let toggles = std::env::var("TOGGLES").ok().and_then(|count| count.parse().ok()).unwrap_or(TOGGLES);
    let adjust = |config: &mut gateway_config::Config| {
        config.plugins.fence_faults = 1_000_000;
        config.http.drain_timeout_ms = 20;
    };
    let gateway = Arc::new(gateway_with(json!({ "job": "panic", "drop": "panic", "stop": "panic" }), adjust).await);
    let (done, reads, writes) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let spawn = |load: u64| {
        let (gateway, done, reads, writes) = (gateway.clone(), done.clone(), reads.clone(), writes.clone());
        tokio::spawn(async move {
            for round in 0_u64.. {
                if done.load(Relaxed) {
                    return;
                }
                let greeting = gateway.get("/api/hello/world").await;
                assert_eq!(greeting.status, 200, "{}", greeting.text());
                reads.fetch_add(1, Relaxed);
                // What the hostile one answers is of no interest, as long as it is an answer.
                let hostile = call(&gateway, ["rows", "panic_after_await"][usize::from(round % 2 == 0)]).await;
                assert!([200, 404, 500, 503].contains(&hostile.status), "{} {}", hostile.status, hostile.text());
                if round % 16 == 0 {
                    let wallet = Wallet::new(load << 32 | round);
                    let text = json!({ "message": "x" });
                    let signed = gateway.post_signed("/api/hello/guests", &wallet, "hello.sign", text).await;
                    assert_eq!(signed.status, 201, "{}", signed.text());
                    writes.fetch_add(1, Relaxed);
                }
                tokio::task::yield_now().await;
            }
        })
    };
    let loads: Vec<_> = (0..2).map(spawn).collect();
    let (off, on) = (switched(&gateway, false), switched(&gateway, true));
    let mut settled_kib = 0;
    for number in 0..toggles {
        gateway.gateway().plugins.reconcile(&off).await;
        gateway.gateway().plugins.reconcile(&on).await;
        if number == toggles / 5 {
            settled_kib = resident_kib();
        }
    }
    let grown_kib = resident_kib().saturating_sub(settled_kib);
    done.store(true, Relaxed);
    for load in loads {
        load.await.unwrap();
    }
    eprintln!("{toggles} toggles, {grown_kib} KiB more, {reads:?} reads, {writes:?} writes");
    assert!(reads.load(Relaxed) > u64::from(toggles) && writes.load(Relaxed) > 10, "{reads:?} {writes:?}");
    assert!(grown_kib < GROWTH_MAX_KIB, "{grown_kib} KiB more after the first {}", toggles / 5);
    assert_eq!(call(&gateway, "rows").await.status, 200);
}

//! Well-behaved clients beside abusive ones. Rule: a single answer that is not 200 fails the test.

use crate::e2e::{Site, THREADS};
use gateway_tests::process::GatewayProcess;
use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const PATHS: [&str; 3] = [THREADS, "/api/hello/world", "/api/health"];

pub struct Neighbours {
    stop: CancellationToken,
    served: Arc<AtomicU64>,
    tasks: JoinSet<Vec<Duration>>,
}

impl Neighbours {
    /// Starts `count` clients at this address, each of which pauses for `rest` between two requests.
    pub fn start(gateway: &GatewayProcess, address: IpAddr, count: usize, rest: Duration) -> Self {
        let (stop, served) = (CancellationToken::new(), Arc::<AtomicU64>::default());
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            // A connection of its own each.
            tasks.spawn(call(Site::from_address(gateway, address), rest, stop.clone(), Arc::clone(&served)));
        }
        Self { stop, served, tasks }
    }

    pub fn served(&self) -> u64 {
        self.served.load(Relaxed)
    }

    /// How long each request took.
    pub async fn stop(self) -> Vec<Duration> {
        self.stop.cancel();
        self.tasks.join_all().await.concat()
    }
}

async fn call(site: Site, rest: Duration, stop: CancellationToken, served: Arc<AtomicU64>) -> Vec<Duration> {
    let mut latencies = Vec::new();
    while !stop.is_cancelled() {
        for path in PATHS {
            let begun = Instant::now();
            let answer = site.get(path).await;
            latencies.push(begun.elapsed());
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            served.fetch_add(1, Relaxed);
            // The pause between two requests.
            tokio::time::sleep(rest).await;
        }
    }
    latencies
}

//! What a request costs does not depend on how many plugins are on.
//!
//! Counted, not timed: the calls into plugins, and their calls of the database. `cargo xtask bench plugins` measures the time.

use crate::all_plugins::modules;
use gateway_plugins::ActivePlugin;
use plugin_api::abi::PluginModule_Ref;
use plugin_testing::{TestGateway, Wallet, json};
use std::sync::Arc;

/// The first plugins of a gateway: those that a forum needs to show its authors and to tell of its threads.
const FEW: [&str; 5] = ["activity", "agents", "forum", "hello", "payloads"];
/// Statements run on other threads until they were fast eight times.
const WARM_UP: u64 = 10;
const WRITES: u64 = 20;

/// What all plugins together did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CallCounts {
    calls: u64,
    reads: u64,
    writes: u64,
}

impl CallCounts {
    fn so_far(gateway: &TestGateway) -> Self {
        let gateway = gateway.gateway();
        let sum = |count: &dyn Fn(&Arc<ActivePlugin>) -> u64| gateway.active.list().iter().map(count).sum();
        Self {
            calls: sum(&|plugin| plugin.call_count()),
            reads: sum(&|plugin| gateway.usage.plugin(plugin.name()).database.read.snapshot().count()),
            writes: sum(&|plugin| gateway.usage.plugin(plugin.name()).database.write.snapshot().count()),
        }
    }

    fn since(self, before: Self) -> Self {
        Self { calls: self.calls - before.calls, reads: self.reads - before.reads, writes: self.writes - before.writes }
    }
}

async fn write_thread(gateway: &TestGateway, number: u64) {
    let payload = json!({ "title": format!("Thread {number}"), "body": "What does it cost?", "tags": ["a", "b", "c"] });
    let answer = gateway.post_signed("/api/forum/threads", &Wallet::new(number), "thread.create", payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
}

/// The work of [`WRITES`] threads, each by a wallet of its own.
async fn work_of_writes(modules: &[PluginModule_Ref]) -> CallCounts {
    let builder = modules.iter().copied().fold(TestGateway::builder(), plugin_testing::Builder::plugin);
    let gateway = builder.config("kb", json!({ "network_pages": false })).start().await;
    assert_eq!(gateway.gateway().active.list().len(), modules.len());
    for number in 1..=WARM_UP {
        write_thread(&gateway, number).await;
    }
    let before = CallCounts::so_far(&gateway);
    for number in WARM_UP + 1..=WARM_UP + WRITES {
        write_thread(&gateway, number).await;
    }
    let work = CallCounts::so_far(&gateway).since(before);
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
    work
}

#[tokio::test]
async fn a_write_costs_the_same_with_five_and_with_all_plugins() {
    let all = modules();
    let is_few = |module: &&PluginModule_Ref| FEW.contains(&plugin_testing::manifest(**module).name.as_str());
    let few: Vec<PluginModule_Ref> = all.iter().filter(is_few).copied().collect();
    assert_eq!((few.len(), all.len() >= 14), (FEW.len(), true));
    let (with_few, with_all) = (work_of_writes(&few).await, work_of_writes(&all).await);
    assert_eq!(with_few, with_all);
    // The handler, and the names of authors, which are new with each wallet.
    assert_eq!(with_all.calls, 2 * WRITES, "{with_all:?}");
}

/// The future of a request is moved into its box, and waits there while a write waits for its commit. Of this 56 bytes name the request and its
/// operation for log lines and spans.
const REQUEST_BYTES_MAX: usize = 3 * 1024 + 56;

#[tokio::test]
async fn the_future_of_a_request_is_small() {
    let gateway = TestGateway::builder().plugin(hello::plugin_module()).start().await;
    let request = http::Request::new(bytes::Bytes::new().into());
    let size = size_of_val(&gateway.gateway().dispatcher.handle(request));
    assert!(size <= REQUEST_BYTES_MAX, "the future of a request takes {size} bytes");
    gateway.stop().await;
}

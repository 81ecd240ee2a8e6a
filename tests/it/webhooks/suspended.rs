//! A gateway that stands still for longer than the lease of a job: another one goes on, and the first makes nothing twice afterwards.

use super::{kills::heard, message, register, setup};
use crate::{crash::query, e2e::Site, storage::Engine};
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::{TestGateway, Wallet};
use std::time::Duration;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

/// The lease of the job that follows the log, and what it takes to notice that it is over.
const TAKEN_OVER: Duration = Duration::from_secs(20);

/// The gateway that follows the log.
async fn holder(setup: &Setup) -> Option<String> {
    let holder = "SELECT lease_holder FROM host_job_runs WHERE plugin = 'webhooks' AND job = 'follow_log' \
        AND lease_holder IS NOT NULL";
    query(setup, holder).await.pop().map(|mut row| row.remove(0))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_suspended_gateway_followed_is_delivered_by_another_one_and_once() {
    let first = setup(Engine::Postgres).await;
    let second = setup(Engine::Sqlite).await.set("database.url", first.get("database.url").unwrap());
    let suspended = first.start().await.unwrap();
    let endpoint = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&endpoint).await;
    let site = Site::of(&suspended);
    register(&site, &endpoint.uri(), "a secret of some length").await;
    TestGateway::eventually(LIMIT, "it follows the log", async || holder(&first).await.is_some()).await;

    let mut other = second.start().await.unwrap();
    suspended.freeze().unwrap();
    let before = holder(&first).await;
    let other_site = Site::of(&other);
    assert_eq!(message(&other_site, &Wallet::new(10), "meanwhile").await.status, 201);
    let delivered = async |count: usize| heard(&endpoint).await.len() == count;
    TestGateway::eventually(TAKEN_OVER, "the other one delivers it", async || delivered(1).await).await;
    let after = holder(&first).await;
    assert!(after != before, "{after:?}");

    suspended.thaw().unwrap();
    assert_eq!(message(&site, &Wallet::new(11), "afterwards").await.status, 201);
    TestGateway::eventually(TAKEN_OVER, "that goes on", async || delivered(2).await).await;
    // On a slow machine the run ends by itself before it is stopped.
    let said = ["another gateway has taken its lease", "a run ended without its lease"];
    let is_stopped = async || said.iter().any(|said| first.log().contains(said));
    TestGateway::eventually(LIMIT, "its run is stopped", is_stopped).await;
    let calls: Vec<usize> = heard(&endpoint).await.values().map(Vec::len).collect();
    assert_eq!(calls, [1, 1], "each is delivered once");
    assert!(other.terminate(LIMIT).await.unwrap().success());
}

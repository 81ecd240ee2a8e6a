//! A gateway that stands still for longer than a lease, of a job or of an endpoint: another one goes on, and the first makes nothing
//! twice afterwards.

use super::{kills::heard, message, register, setup};
use crate::{
    crash::{execute, query},
    e2e::Site,
    storage::Engine,
};
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::{TestGateway, Wallet};
use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

/// The lease of the job that follows the log, and what it takes to notice that it is over.
const TAKEN_OVER: Duration = Duration::from_secs(20);

/// The gateway that follows the log.
pub async fn holder(setup: &Setup) -> Option<String> {
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

/// One that was killed so long ago is known to have ended.
const STANDSTILL: Duration = Duration::from_secs(9);
/// Longer than the other gateway needs, and shorter than a call may take.
const FIRST_CALL: Duration = Duration::from_secs(8);

/// The first call fails, after a while; the next ones succeed at once.
struct FailsLateOnce(AtomicBool);

impl Respond for FailsLateOnce {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        match self.0.swap(true, SeqCst) {
            false => ResponseTemplate::new(500).set_delay(FIRST_CALL),
            true => ResponseTemplate::new(200),
        }
    }
}

async fn delivery(setup: &Setup) -> Vec<String> {
    let select =
        "SELECT status || ' ' || attempts || ' ' || coalesce(CAST(last_status AS TEXT), '-') FROM webhooks_deliveries";
    query(setup, select).await.into_iter().map(|mut row| row.remove(0)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_of_a_suspended_gateway_is_made_again_by_another_one_and_its_outcome_does_not_count() {
    let first = setup(Engine::Postgres).await;
    let second = setup(Engine::Sqlite).await.set("database.url", first.get("database.url").unwrap());
    let mut suspended = first.start().await.unwrap();
    let endpoint = MockServer::start().await;
    Mock::given(any()).respond_with(FailsLateOnce(AtomicBool::new(false))).mount(&endpoint).await;
    let site = Site::of(&suspended);
    register(&site, &endpoint.uri(), "a secret of some length").await;
    assert_eq!(message(&site, &Wallet::new(10), "once").await.status, 201);
    let calls = async || endpoint.received_requests().await.unwrap().len();
    TestGateway::eventually(LIMIT, "it is called", async || calls().await == 1).await;
    suspended.freeze().unwrap();

    // Nobody else calls the endpoint while the lease lasts: a gateway that stands still has not ended.
    let mut other = second.start().await.unwrap();
    tokio::time::sleep(STANDSTILL).await;
    assert_eq!((calls().await, delivery(&first).await), (1, vec!["pending 0 -".to_owned()]));
    execute(&first, "UPDATE webhooks_queue_keys SET lease_until_ms = 1 WHERE token <> 0".to_owned()).await;
    let is_delivered = async || delivery(&first).await == ["ok 1 200"];
    TestGateway::eventually(LIMIT, "the other one delivers it", is_delivered).await;

    suspended.thaw().unwrap();
    // It ends when its call is over.
    assert!(suspended.terminate(2 * LIMIT).await.unwrap().success());
    assert_eq!(delivery(&first).await, ["ok 1 200"], "what the first one heard does not count");
    let calls: Vec<usize> = heard(&endpoint).await.values().map(Vec::len).collect();
    assert_eq!(calls, [2], "twice, with the same id");
    assert!(other.terminate(LIMIT).await.unwrap().success());
}

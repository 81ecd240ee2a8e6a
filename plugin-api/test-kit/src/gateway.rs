//! The gateway under test.

use crate::{Database, TestResponse, Wallet, http_client, process::Process};
use bytes::Bytes;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Between two writes of one wallet, and a little more for the difference between two clocks.
const WRITE_INTERVAL: Duration = Duration::from_millis(1_050);
const READY_LIMIT: Duration = Duration::from_secs(60);

/// A gateway that runs in a process of its own. It is killed when the value is dropped; end a test with [`TestGateway::stop`].
pub struct TestGateway {
    process: Process,
    database: Option<Database>,
    /// When each wallet may write again.
    next_writes: Mutex<HashMap<String, Instant>>,
}

impl TestGateway {
    pub(crate) fn new(process: Process, database: Option<Database>) -> Self {
        Self { process, database, next_writes: Mutex::default() }
    }

    pub(crate) async fn wait_until_ready(&self, plugins: &[String]) {
        let is_ready = async || {
            let reports = self.reports().await;
            let mut wanted = reports.iter().filter(|report| plugins.iter().any(|plugin| report["name"] == **plugin));
            let refusals: Vec<String> = wanted.clone().filter_map(refusal).collect();
            assert!(refusals.is_empty(), "the gateway refused a plugin: {refusals:?}");
            wanted.all(|report| report["serves"] == true) && self.ask_operator("/ready").await.status == 200
        };
        Self::eventually(READY_LIMIT, "the gateway is ready", is_ready).await;
    }

    /// `http://IP:PORT`, for clients of your own.
    pub fn base_url(&self) -> &str {
        &self.process.base_url
    }

    /// `sqlite` or `postgres`.
    pub fn dialect(&self) -> &str {
        if self.database.is_some() { "postgres" } else { "sqlite" }
    }

    /// The system's time, in Unix seconds.
    #[allow(clippy::disallowed_methods, reason = "the gateway of these tests is a process with the system's clock")]
    pub fn now_s(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, &[], "").await
    }

    /// Posts a signed body, with the current time.
    ///
    /// A wallet may write once a second: this waits until a second after the last write of this wallet that the gateway accepted. Where a
    /// test is to be quick, it writes with another wallet.
    pub async fn post_signed(&self, path: &str, wallet: &Wallet, action: &str, payload: Value) -> TestResponse {
        self.send_signed("POST", path, wallet, action, payload).await
    }

    /// As [`Self::post_signed`], with another method.
    pub async fn send_signed(
        &self,
        method: &str,
        path: &str,
        wallet: &Wallet,
        action: &str,
        payload: Value,
    ) -> TestResponse {
        let next_write = self.next_writes().get(wallet.address()).copied();
        if let Some(next_write) = next_write {
            tokio::time::sleep_until(next_write.into()).await;
        }
        let body = wallet.signed_body(action, self.now_s(), &payload).to_string();
        let response = self.send(method, path, &[("content-type", "application/json")], body).await;
        if response.is_success() {
            self.next_writes().insert(wallet.address().to_owned(), Instant::now() + WRITE_INTERVAL);
        }
        response
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> TestResponse {
        http_client::send(self.base_url(), method, path, headers, body).await
    }

    /// The last fault of each plugin; empty when none failed.
    pub async fn faults(&self) -> Vec<String> {
        let reports = self.reports().await;
        let fault = |report: &Value| Some(format!("{}: {}", report["name"].as_str()?, report["last_fault"].as_str()?));
        reports.iter().filter_map(fault).collect()
    }

    /// The reports of all plugins, as `GET /plugins` of the operator's listener has them.
    pub async fn reports(&self) -> Vec<Value> {
        let reports = self.ask_operator("/plugins").await;
        reports.json().as_array().cloned().unwrap_or_else(|| panic!("/plugins: {}", reports.text()))
    }

    async fn ask_operator(&self, path: &str) -> TestResponse {
        http_client::send(&self.process.admin_url, "GET", path, &[], "").await
    }

    /// What the gateway logged so far. A test that fails prints it.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// Waits until `condition` holds; fails the test with `what` after `limit`.
    pub async fn eventually<F: Future<Output = bool>>(limit: Duration, what: &str, condition: impl Fn() -> F) {
        let holds = async {
            while !condition().await {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let in_time = tokio::time::timeout(limit, holds).await;
        assert!(in_time.is_ok(), "{what}: not within {limit:?}");
    }

    /// Stops the gateway as an operator does; drops its PostgreSQL database.
    pub async fn stop(mut self) {
        let status = self.process.stop().await;
        if let Some(database) = self.database.take() {
            database.remove().await;
        }
        assert!(status.success(), "the gateway ended with {status}");
    }

    fn next_writes(&self) -> std::sync::MutexGuard<'_, HashMap<String, Instant>> {
        self.next_writes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Why a plugin does not serve, unless it serves or starts.
fn refusal(report: &Value) -> Option<String> {
    let text = |member: &str| report[member].as_str().unwrap_or_default();
    (!["serving", "starting"].contains(&text("state"))).then(|| format!("{}: {}", text("name"), text("reason")))
}

//! The gateway under test.

mod builder;

pub use builder::Builder;

use crate::{ScriptedChain, TestResponse, Wallet};
use bytes::Bytes;
use gateway::Gateway;
use gateway_clock::{Clock, ManualClock};
use gateway_config::{Config, MAIN};
use gateway_egress::{FetchRequest, Resolver, StreamTimeouts, StreamedResponse};
use gateway_http::ClientIp;
use gateway_http::body::RequestBody;
use gateway_indexer::{IndexReport, IndexState};
use gateway_plugins::LoadedPlugin;
use gateway_storage::{Dialect, Scope};
use http::Request;
use http_body_util::BodyExt as _;
use plugin_api::{
    abi::{Cell, PluginModule_Ref},
    manifest::ActivityRow,
};
use plugin_test_kit::Database;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tempfile::TempDir;

/// Start of every test's clock: 2026-01-01 00:00:00 UTC.
const START_MS: i64 = 1_767_225_600_000;

pub struct TestGateway {
    gateway: Arc<Gateway>,
    clock: ManualClock,
    database: Option<Database>,
    data_dir: TempDir,
    config: Config,
    plugins: Vec<TestPlugin>,
    resolver: Arc<dyn Resolver>,
    client_ip: Mutex<IpAddr>,
    /// Lives as long as the gateway, however often that starts again.
    simulated: SimulatedServer,
}

#[cfg(feature = "simulation")]
type SimulatedServer = Option<gateway_storage::SimulatedPostgres>;
#[cfg(not(feature = "simulation"))]
type SimulatedServer = ();

#[derive(Clone, Copy)]
struct TestPlugin {
    module: PluginModule_Ref,
    /// Whether it counts as one that came with the gateway.
    is_released: bool,
}

async fn start(
    mut config: Config,
    clock: &ManualClock,
    resolver: &Arc<dyn Resolver>,
    plugins: &[TestPlugin],
) -> Arc<Gateway> {
    let linked = |plugin: &TestPlugin| {
        let linked = LoadedPlugin::linked(plugin.module)
            .map(|linked| LoadedPlugin { is_released: plugin.is_released, ..linked });
        linked.map_err(|error| gateway_plugins::PluginReport::of_error("linked", &error).into())
    };
    let loaded: Vec<_> = plugins.iter().map(linked).collect();
    // A test that links a plugin wants it, also one that is off by default.
    for plugin in loaded.iter().flatten().filter(|plugin: &&LoadedPlugin| plugin.manifest.off_by_default) {
        config.plugins.sections.entry(plugin.name().to_owned()).or_default().enabled.get_or_insert(true);
    }
    let bound = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
    let clock = Clock::Manual(clock.clone());
    let started = Gateway::start_with_resolver(config, clock, resolver.clone(), bound, loaded).await;
    let gateway = started.unwrap_or_else(|error| panic!("the gateway does not start: {error}"));
    // A busy machine may be slow.
    gateway.plugins.settled(&gateway.plugins.wanted().into_iter().collect()).await;
    gateway
}

impl TestGateway {
    /// SQLite, no plugins, no limits per IP.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The same on a new PostgreSQL database; `None` without `GATEWAY_TEST_POSTGRES`.
    pub async fn postgres_builder() -> Option<Builder> {
        #[cfg(feature = "simulation")]
        if std::env::var_os("GATEWAY_TEST_SIMULATED").is_some() {
            return Some(Builder::simulated());
        }
        Database::create().await.map(Builder::on)
    }

    /// One gateway on SQLite and, when `GATEWAY_TEST_POSTGRES` is set, one on PostgreSQL.
    pub async fn each_database(plugins: &[PluginModule_Ref]) -> Vec<Self> {
        let mut builders = vec![Self::builder()];
        builders.extend(Self::postgres_builder().await);
        let mut gateways = Vec::new();
        for builder in builders {
            gateways.push(plugins.iter().fold(builder, |builder, module| builder.plugin(*module)).start().await);
        }
        gateways
    }

    /// Waits until every index of the main chain has its newest block; fails the test after a minute.
    pub async fn indexed(&self, chain: &ScriptedChain) {
        self.indexed_on(MAIN, chain).await;
    }

    /// As [`Self::indexed`], for the chain of this name.
    pub async fn indexed_on(&self, name: &str, chain: &ScriptedChain) {
        let newest = || (chain.head(), chain.head_hash().map_or(plugin_api::Hash256([0; 32]), plugin_api::Hash256));
        self.has_indexed(name, newest).await;
    }

    /// As [`Self::indexed`], whatever the main chain is: `newest` returns number and hash of its newest block.
    pub async fn indexed_up_to(&self, newest: impl Fn() -> (u64, plugin_api::Hash256)) {
        self.has_indexed(MAIN, newest).await;
    }

    async fn has_indexed(&self, chain: &str, newest: impl Fn() -> (u64, plugin_api::Hash256)) {
        let reports = || {
            let mut reports = self.gateway.indexes.reports();
            reports.retain(|report| report.chain == chain);
            reports
        };
        let has_all = |block: u64| {
            let has =
                |report: &IndexReport| report.state == IndexState::Following && report.indexed_block == Some(block);
            !reports().is_empty() && reports().iter().all(has)
        };
        let waits = async {
            // The events of the last blocks become public after them.
            let is_public = || self.gateway.indexes.are_published();
            while !(has_all(newest().0) && self.is_on_branch(chain, newest().1).await && is_public()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(60), waits).await;
        assert!(in_time.is_ok(), "not indexed up to block {}: {:#?}", newest().0, reports());
    }

    /// Whether every index of the chain has this hash as its last block.
    async fn is_on_branch(&self, chain: &str, hash: plugin_api::Hash256) -> bool {
        let statement = plugin_api::sql("SELECT hash FROM host_chain_index WHERE chain = $1").bind(chain);
        let rows = self.gateway.database.read(&Scope::Host, statement.into()).await;
        let hashes: Vec<String> =
            rows.ok().and_then(|rows| plugin_api::host::decode_rows(&rows).ok()).unwrap_or_default();
        !hashes.is_empty() && hashes.iter().all(|indexed| *indexed == hash.to_string())
    }

    /// Stops the gateway as an operator does and starts it again on the same data.
    pub async fn restart(self) -> Self {
        self.restart_after(|_| {}).await
    }

    /// As [`Self::restart`]; while the gateway is stopped, `meanwhile` may change the configuration.
    pub async fn restart_after(self, meanwhile: impl FnOnce(&mut Config)) -> Self {
        let Self { gateway, clock, database, data_dir, mut config, plugins, resolver, client_ip, simulated } = self;
        gateway.stop().await;
        meanwhile(&mut config);
        let gateway = Box::pin(start(config.clone(), &clock, &resolver, &plugins)).await;
        Self { gateway, clock, database, data_dir, config, plugins, resolver, client_ip, simulated }
    }

    /// Rows of any table or view, as text, for comparisons.
    pub async fn rows(&self, statement: &str) -> Vec<String> {
        self.sequenced().await;
        let statement = plugin_api::sql(statement.to_owned());
        let rows = self.gateway.database.read(&Scope::Host, statement.into()).await;
        let rows = rows.unwrap_or_else(|error| panic!("{error}"));
        let width = rows.columns().map_or(1, |columns| columns.len().max(1));
        let cells: Vec<String> =
            rows.cells().into_iter().flatten().map(|cell| format!("{:?}", cell.unwrap_or(Cell::Null))).collect();
        cells.chunks(width).map(|row| row.join(" ")).collect()
    }

    /// `sqlite` or `postgres`.
    pub fn dialect(&self) -> &str {
        &self.gateway.environment.dialect
    }

    pub fn now_s(&self) -> i64 {
        self.clock.now_ms() / 1000
    }

    /// Advance it with `advance`; two writes of one wallet must be a second apart.
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// The address that the next requests come from; limits per IP apply to every other one than 127.0.0.1.
    pub fn set_client_ip(&self, ip: IpAddr) {
        *self.client_ip() = ip;
    }

    fn client_ip(&self) -> MutexGuard<'_, IpAddr> {
        self.client_ip.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, &[], "").await
    }

    /// Posts a signed body, with the current time.
    pub async fn post_signed(&self, path: &str, wallet: &Wallet, action: &str, payload: Value) -> TestResponse {
        self.send_signed("POST", path, wallet, action, payload).await
    }

    pub async fn send_signed(
        &self,
        method: &str,
        path: &str,
        wallet: &Wallet,
        action: &str,
        payload: Value,
    ) -> TestResponse {
        let body = wallet.signed_body(action, self.now_s(), &payload).to_string();
        self.send(method, path, &[("content-type", "application/json")], body).await
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> TestResponse {
        let response = self.open_stream(method, path, headers, body).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        TestResponse { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Sends requests with the body `{}` until a limit per IP is exceeded; returns the number of accepted requests, and the
    /// 429.
    pub async fn until_limited(&self, method: &str, path: &str) -> (usize, TestResponse) {
        let mut taken = 0;
        loop {
            let answer = self.send(method, path, &[], "{}").await;
            if answer.status == 429 {
                return (taken, answer);
            }
            taken += 1;
        }
    }

    /// On PostgreSQL an event is public a moment after its commit. Waits until all that are committed now are, so that a test
    /// finds in the log what it has written, as on SQLite.
    async fn sequenced(&self) {
        if self.gateway.database.dialect() == Dialect::Sqlite {
            return;
        }
        let read = async |statement: plugin_api::Sql| -> Option<i64> {
            let rows = self.gateway.database.read(&Scope::Host, statement.into()).await.ok()?;
            plugin_api::host::decode_rows(&rows).ok()?.into_iter().next()
        };
        // Nothing of a database that is away is waited for.
        let newest = read(plugin_api::sql("SELECT coalesce(max(id), 0) FROM host_activity_outbox")).await.unwrap_or(0);
        let waiting = || plugin_api::sql("SELECT count(*) FROM host_activity_outbox WHERE id <= $1").bind(newest);
        let is_sequenced = async || newest == 0 || read(waiting()).await.unwrap_or(0) == 0;
        Self::eventually(Duration::from_secs(20), "committed events become public", is_sequenced).await;
    }

    /// The response with its body unread, for streams.
    pub async fn open_stream(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> http::Response<gateway_http::body::Body> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(RequestBody::from(body.into()));
        let mut request = request.unwrap_or_else(|error| panic!("{method} {path} is no request: {error}"));
        request.extensions_mut().insert(ClientIp(*self.client_ip()));
        self.sequenced().await;
        self.gateway.handle(request).await
    }

    /// Takes one of the plugin's places for outbound requests, by a request to a URL that answers with a body. Dropping the
    /// response frees the place.
    pub async fn take_outbound_place(&self, plugin: &str, url: &str) -> StreamedResponse {
        let Some(egress) = &self.gateway.egress else { panic!("outbound HTTP is off") };
        let response = egress.stream(plugin, FetchRequest::new("GET", url), StreamTimeouts::default()).await;
        response.unwrap_or_else(|error| panic!("{url} does not answer: {error}"))
    }

    /// Changes any table, for states that only manual changes of an operator produce.
    pub async fn execute(&self, statement: &str) {
        let transaction = self.gateway.database.begin(Scope::Host);
        let ran = transaction.run(vec![plugin_api::sql(statement.to_owned()).into()]).await;
        // What an operator must do too.
        let changed = self.gateway.database.change_statement_of_all();
        let committed = transaction.commit(changed.into_iter().collect()).await;
        if let Some(error) = ran.err().or(committed.err()) {
            panic!("{error}");
        }
    }

    /// The whole activity log, oldest first.
    pub async fn events(&self) -> Vec<ActivityRow> {
        self.sequenced().await;
        let rows = self.gateway.activity.rows_after(0).await;
        rows.unwrap_or_else(|error| panic!("the activity log cannot be read: {error}"))
    }

    /// The plugins' contributions to an extension point, by plugin name.
    pub async fn collect(&self, point: &str, input: &Value) -> BTreeMap<String, Value> {
        self.sequenced().await;
        let parts = self.gateway.extension_points.collect(point, input.to_string()).await;
        let decode = |part: &gateway_plugins::Contribution| {
            Some((part.plugin.name().to_owned(), serde_json::from_str(part.value.get()).ok()?))
        };
        parts.iter().filter_map(decode).collect()
    }

    /// The last fault of each plugin; empty when none failed.
    pub async fn faults(&self) -> Vec<String> {
        let reports = self.reports().await;
        reports
            .into_iter()
            .filter_map(|report| report.last_fault.map(|fault| format!("{}: {fault}", report.name)))
            .collect()
    }

    pub async fn reports(&self) -> Vec<gateway_plugins::PluginReport> {
        self.gateway.plugins.reports()
    }

    /// The gateway itself.
    pub fn gateway(&self) -> &gateway::Gateway {
        &self.gateway
    }

    /// Waits until `condition` holds; fails the test with `what` after `limit`.
    pub async fn eventually<F: Future<Output = bool>>(limit: Duration, what: &str, condition: impl Fn() -> F) {
        let holds = async {
            while !condition().await {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let in_time = tokio::time::timeout(limit, holds).await;
        assert!(in_time.is_ok(), "{what}: not within {limit:?}");
    }

    /// Drains and stops the gateway; drops its PostgreSQL database.
    pub async fn stop(self) {
        self.gateway.stop().await;
        if let Some(database) = self.database {
            database.remove().await;
        }
    }
}

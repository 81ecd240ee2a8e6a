//! What a test sets before its gateway starts.

use super::{START_MS, SimulatedServer, TestGateway, TestPlugin, start};
use crate::{ScriptedChain, Wallet};
use gateway_clock::ManualClock;
use gateway_config::{ChainConfig, Config, MAIN, SignerConfig};
use gateway_egress::{Resolver, SystemResolver};
use plugin_api::abi::PluginModule_Ref;
use plugin_test_kit::Database;
use serde_json::{Map, Value};
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex},
};
use tempfile::TempDir;

/// Builder of a [`TestGateway`].
pub struct Builder {
    config: Config,
    plugins: Vec<TestPlugin>,
    resolver: Arc<dyn Resolver>,
    database: Option<Database>,
    simulated: SimulatedServer,
}

impl Builder {
    /// SQLite, no plugins, no limits per IP.
    pub(super) fn new() -> Self {
        let mut config = Config::default();
        config.limits.allow = vec![IpAddr::V4(Ipv4Addr::LOCALHOST).into()];
        // Each reads the schema again after each migration: a third of a start's CPU time with the default.
        config.database.read_connections = 2;
        // A gateway opens all of them soon, and each is a process of the server that reads the catalogue anew.
        config.database.pool_max = 6;
        Self {
            config,
            plugins: Vec::new(),
            resolver: Arc::new(SystemResolver),
            database: None,
            simulated: SimulatedServer::default(),
        }
    }

    /// The same on this database of PostgreSQL.
    pub(super) fn on(database: Database) -> Self {
        Self { database: Some(database), ..Self::new() }
    }

    /// The same on a new simulated PostgreSQL.
    #[cfg(feature = "simulation")]
    pub(super) fn simulated() -> Self {
        let server = gateway_storage::SimulatedPostgres::start(1, || gateway_clock::Clock::System.now_ms())
            .unwrap_or_else(|error| panic!("the simulated PostgreSQL does not start: {error}"));
        let mut builder = Self::new();
        builder.config.database.url = Some(server.url().into());
        builder.simulated = Some(server);
        builder
    }

    pub fn plugin(mut self, module: PluginModule_Ref) -> Self {
        self.plugins.push(TestPlugin { module, is_released: true });
        self
    }

    /// A plugin that did not come with the gateway, and is not pinned either.
    pub fn foreign_plugin(mut self, module: PluginModule_Ref) -> Self {
        self.plugins.push(TestPlugin { module, is_released: false });
        self
    }

    /// Sets `[plugins.<name>]`.
    pub fn config(mut self, name: &str, settings: Value) -> Self {
        let settings: Map<String, Value> = settings.as_object().cloned().unwrap_or_default();
        self.config.plugins.sections.entry(name.to_owned()).or_default().config = settings;
        self
    }

    /// Uses this chain as `main`; the contracts with these keys have the addresses of [`ScriptedChain::address_of`].
    pub fn chain(self, chain: &ScriptedChain, contracts: &[&str]) -> Self {
        self.chain_named(MAIN, chain, contracts)
    }

    /// As [`Self::chain`], under another name.
    pub fn chain_named(mut self, name: &str, chain: &ScriptedChain, contracts: &[&str]) -> Self {
        let contracts = contracts.iter().map(|key| ((*key).to_owned(), ScriptedChain::address_of(key)));
        let settings = ChainConfig {
            rpc: vec![chain.url().into()],
            chain_id: Some(chain.id()),
            // With 10 a test on a busy machine spent a fifth of its CPU time asking for blocks.
            poll_ms: 40,
            timeout_ms: 2000,
            contracts: contracts.collect(),
            ..ChainConfig::default()
        };
        self.config.chains.insert(name.to_owned(), settings);
        self
    }

    /// A key for a role: that of [`Wallet::new`] with this number.
    pub fn signer(mut self, role: &str, number: u64) -> Self {
        self.config.signers.insert(role.to_owned(), SignerConfig::with_key(Wallet::new(number).key_text()));
        self
    }

    /// The seed of a role that has wallets, in hexadecimal.
    pub fn seed(mut self, role: &str, seed: &str) -> Self {
        self.config.signers.insert(role.to_owned(), SignerConfig::with_key(seed));
        self
    }

    /// What names resolve to in outbound HTTP, in place of the system's resolver.
    pub fn resolver(self, resolver: impl Resolver) -> Self {
        Self { resolver: Arc::new(resolver), ..self }
    }

    /// Any other key of the configuration.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Opens the gateway; fails the test when a plugin does not serve.
    pub async fn start(self) -> TestGateway {
        let gateway = self.open().await;
        let refused: Vec<String> = gateway
            .reports()
            .await
            .into_iter()
            .filter(|report| report.is_failure())
            .map(|report| format!("{}: {}", report.name, report.reason))
            .collect();
        assert!(refused.is_empty(), "the gateway refused a plugin: {refused:?}");
        gateway
    }

    /// Opens the gateway, whatever becomes of its plugins.
    pub async fn open(mut self) -> TestGateway {
        let data_dir = TempDir::new().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        self.config.data_dir = data_dir.path().to_owned();
        if let Some(database) = &self.database {
            self.config.database.url = Some(database.url.clone().into());
        }
        let clock = ManualClock::new(START_MS);
        let gateway = start(self.config.clone(), &clock, &self.resolver, &self.plugins).await;
        TestGateway {
            gateway,
            clock,
            database: self.database,
            data_dir,
            config: self.config,
            plugins: self.plugins,
            resolver: self.resolver,
            client_ip: Mutex::new(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            simulated: self.simulated,
        }
    }
}

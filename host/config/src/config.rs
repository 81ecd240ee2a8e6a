//! The configuration as one typed value.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    activity::ActivityConfig,
    admin::AdminConfig,
    backup::BackupConfig,
    brand::BrandConfig,
    chains::ChainConfig,
    database::{DatabaseConfig, DatabaseTarget, DatabaseUrlError},
    egress::EgressConfig,
    http::HttpConfig,
    limits::LimitsConfig,
    log::LogConfig,
    open_files::LoweredConnections,
    plugins::PluginsConfig,
    secrets::SecretsConfig,
    signers::SignerConfig,
    sources::Sources,
    traces::TracesConfig,
    tx::TxConfig,
    web::WebConfig,
};

/// Everything an operator can set.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Folder for everything that is kept. Relative paths, here and below, start where the gateway is started.
    #[schemars(example = "./data")]
    pub data_dir: PathBuf,
    /// URL under which clients reach the gateway; without it `http://` (`https://` with `[http.tls]`) and the address that is
    /// listened on.
    #[schemars(example = "https://gateway.example")]
    pub base_url: Option<String>,
    /// Name of the network, as a wallet shows it.
    #[schemars(example = "Service Network")]
    pub network_name: String,
    /// Chain id of the network.
    #[schemars(range(min = 1), example = 3961)]
    pub chain_id: u64,
    pub brand: BrandConfig,
    pub web: WebConfig,
    pub http: HttpConfig,
    pub limits: LimitsConfig,
    pub admin: AdminConfig,
    pub database: DatabaseConfig,
    pub backup: BackupConfig,
    pub plugins: PluginsConfig,
    pub egress: EgressConfig,
    /// The chains that the gateway reads, by name; `main` is the one that contracts, agents and jobs are on.
    pub chains: BTreeMap<String, ChainConfig>,
    /// The keys that the gateway signs with, by role.
    pub signers: BTreeMap<String, SignerConfig>,
    pub secrets: SecretsConfig,
    pub tx: TxConfig,
    pub activity: ActivityConfig,
    pub log: LogConfig,
    pub traces: TracesConfig,
    /// Set by [`Self::fit_open_files`].
    #[serde(skip)]
    pub lowered_connections: Option<LoweredConnections>,
    #[serde(skip)]
    pub(super) sources: Sources,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("./data"),
            base_url: None,
            network_name: "Service Network".to_owned(),
            chain_id: 3961,
            brand: BrandConfig::default(),
            web: WebConfig::default(),
            http: HttpConfig::default(),
            limits: LimitsConfig::default(),
            admin: AdminConfig::default(),
            database: DatabaseConfig::default(),
            backup: BackupConfig::default(),
            plugins: PluginsConfig::default(),
            egress: EgressConfig::default(),
            chains: BTreeMap::new(),
            signers: BTreeMap::new(),
            secrets: SecretsConfig::default(),
            tx: TxConfig::default(),
            activity: ActivityConfig::default(),
            log: LogConfig::default(),
            traces: TracesConfig::default(),
            lowered_connections: None,
            sources: Sources::default(),
        }
    }
}

impl Config {
    /// Lowers the caps on connections to what this limit of open files allows.
    pub fn fit_open_files(&mut self, open_files_max: u64) {
        self.lowered_connections = LoweredConnections::fit(&mut self.http, open_files_max);
    }

    /// The layer that set each key, for reports.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The id of one of the chains: that of the network where it has none of its own.
    pub fn id_of(&self, chain: &ChainConfig) -> u64 {
        chain.chain_id.unwrap_or(self.chain_id)
    }

    /// URL under which clients reach the gateway, without a slash at its end. `bound`: the address of the listener.
    pub fn public_url(&self, bound: SocketAddr) -> String {
        let scheme = if self.http.tls.files().is_some() { "https" } else { "http" };
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if bound.ip().is_unspecified() => format!("{scheme}://localhost:{}", bound.port()),
            None => format!("{scheme}://{bound}"),
        }
    }

    /// The database to open.
    pub fn database_target(&self) -> Result<DatabaseTarget, DatabaseUrlError> {
        self.database.target(&self.data_dir)
    }

    /// The file that was read, if there was one.
    pub fn file(&self) -> Option<&Path> {
        self.sources.file()
    }
}

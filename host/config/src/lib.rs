//! The configuration: defaults < file < environment < flags. Rule: the gateway starts with exactly what the operator
//! wrote or not at all; an unknown key, a wrong value or a setting that cannot work is a problem, and all are told at once.
//!
//! Adding a key: a documented field in its section, its default beside it, a line in `config/gateway.toml` (a test
//! compares the two), and, where a bound is not enough, a line in the section's `check`.

mod activity;
mod admin;
mod brand;
mod chains;
mod checks;
mod database;
mod egress;
mod environment;
mod extract;
mod file;
mod http;
mod layers;
mod limits;
mod log;
mod overrides;
mod plugins;
mod problem;
mod schema;
mod signers;
mod sources;
mod suggest;
#[cfg(test)]
mod tests;
mod tx;

#[cfg(test)]
mod fuzz;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    activity::ActivityConfig,
    admin::AdminConfig,
    brand::BrandConfig,
    chains::{ChainConfig, MAIN},
    database::{DatabaseConfig, DatabaseTarget, DatabaseUrlError, Synchronous},
    egress::EgressConfig,
    http::HttpConfig,
    limits::LimitsConfig,
    log::{LogConfig, LogFormat},
    overrides::Overrides,
    plugins::{PluginSettings, PluginsConfig},
    problem::{Problem, Problems, Source},
    signers::{ROLES, SignerConfig},
    sources::Sources,
    tx::TxConfig,
};

/// Everything an operator can set.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Folder for everything that is kept. Relative paths, here and below, start where the gateway is started.
    #[schemars(example = "./data")]
    pub data_dir: PathBuf,
    /// URL under which clients reach the gateway; without it `http://` and the address that is listened on.
    #[schemars(example = "https://gateway.example")]
    pub base_url: Option<String>,
    /// Name of the network, as a wallet shows it.
    #[schemars(example = "Service Network")]
    pub network_name: String,
    /// Chain id of the network.
    #[schemars(range(min = 1), example = 3961)]
    pub chain_id: u64,
    pub brand: BrandConfig,
    pub http: HttpConfig,
    pub limits: LimitsConfig,
    pub admin: AdminConfig,
    pub database: DatabaseConfig,
    pub plugins: PluginsConfig,
    pub egress: EgressConfig,
    /// The chains that the gateway reads, by name; `main` is the one that contracts, agents and jobs are on.
    pub chains: BTreeMap<String, ChainConfig>,
    /// The keys that the gateway signs with, by role.
    pub signers: BTreeMap<String, SignerConfig>,
    pub tx: TxConfig,
    pub activity: ActivityConfig,
    pub log: LogConfig,
    #[serde(skip)]
    sources: Sources,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("./data"),
            base_url: None,
            network_name: "Service Network".to_owned(),
            chain_id: 3961,
            brand: BrandConfig::default(),
            http: HttpConfig::default(),
            limits: LimitsConfig::default(),
            admin: AdminConfig::default(),
            database: DatabaseConfig::default(),
            plugins: PluginsConfig::default(),
            egress: EgressConfig::default(),
            chains: BTreeMap::new(),
            signers: BTreeMap::new(),
            tx: TxConfig::default(),
            activity: ActivityConfig::default(),
            log: LogConfig::default(),
            sources: Sources::default(),
        }
    }
}

impl Config {
    /// Reads the layers around this process. The file is the one that `--config` names, else `GATEWAY_CONFIG`, else
    /// `config/gateway.toml` in the working folder, else the same beside the binary; without any the defaults hold.
    pub fn load(flags: &Overrides) -> Result<Self, Problems> {
        Self::load_from(flags, environment::of_process(), &file::candidates())
    }

    /// The same layers as far as they can be read, defaults for what cannot, and everything that is wrong. For reports;
    /// nothing may run with a configuration that has problems.
    pub fn examine(flags: &Overrides) -> (Self, Vec<Problem>) {
        Self::examine_from(flags, environment::of_process(), &file::candidates())
    }

    /// Reads the layers that are handed in; `candidates` are the files to try when none is named.
    pub fn load_from(
        flags: &Overrides,
        environment: impl IntoIterator<Item = (String, String)>,
        candidates: &[PathBuf],
    ) -> Result<Self, Problems> {
        let (config, found) = Self::examine_from(flags, environment, candidates);
        Problems::into_result(found).map(|()| config)
    }

    fn examine_from(
        flags: &Overrides,
        environment: impl IntoIterator<Item = (String, String)>,
        candidates: &[PathBuf],
    ) -> (Self, Vec<Problem>) {
        let mut environment: Vec<_> = environment.into_iter().collect();
        let mut found = Vec::new();
        let keys = signers::take_keys(&mut environment);
        let layers = layers::read(flags, &environment, candidates, &mut found);
        let mut config = extract::extract(layers, &mut found);
        signers::give_keys(&mut config.signers, keys, &mut found);
        if let Err(problems) = config.validate() {
            found.extend(problems.iter().cloned());
        }
        (config, found)
    }

    /// Every problem with the values.
    pub fn validate(&self) -> Result<(), Problems> {
        checks::check(self)
    }

    /// Where the keys were set, to name the place in a report.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// URL under which clients reach the gateway, without a slash at its end. `bound` is the address that was bound.
    pub fn public_url(&self, bound: SocketAddr) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if bound.ip().is_unspecified() => format!("http://localhost:{}", bound.port()),
            None => format!("http://{bound}"),
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

    /// The JSON Schema of the file.
    pub fn json_schema() -> serde_json::Value {
        schema::json_schema()
    }
}

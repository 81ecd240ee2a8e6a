//! The configuration: defaults < file < environment < flags. Rule: the gateway starts with exactly what the operator
//! wrote or not at all. An unknown key, a wrong value and a setting that cannot work are problems; all are reported at once.
//!
//! Adding a key: a documented field in its section, its default beside it, a line in `config/gateway.toml` (a test
//! compares the two), and, where a bound is not enough, a line in the section's `validate`.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod activity;
mod admin;
mod admin_tls;
mod backup;
mod brand;
mod chains;
mod config;
mod database;
mod difference;
mod effective;
mod egress;
mod environment;
mod extract;
mod file;
mod file_identity;
#[cfg(test)]
mod fuzz;
mod http;
mod layer;
mod limits;
mod load;
mod log;
mod open_files;
mod overrides;
mod plugins;
mod problem;
mod schema;
mod secrets;
mod signers;
mod sources;
mod suggest;
#[cfg(test)]
mod tests;
mod traces;
mod tx;
mod validate;
mod validator;
mod variable_name;
mod web;

pub use self::{
    activity::ActivityConfig,
    admin::AdminConfig,
    admin_tls::AdminTlsConfig,
    backup::BackupConfig,
    brand::BrandConfig,
    chains::{ChainConfig, MAIN},
    config::Config,
    database::{DatabaseConfig, DatabaseTarget, DatabaseUrlError, Synchronous},
    effective::EffectiveValue,
    egress::EgressConfig,
    file_identity::FileIdentity,
    http::{HttpConfig, TlsConfig, TlsFiles},
    limits::LimitsConfig,
    load::is_key,
    log::{LogConfig, LogFormat},
    open_files::LoweredConnections,
    overrides::Overrides,
    plugins::{PluginSettings, PluginsConfig},
    problem::{Problem, Problems, Source},
    secrets::SecretsConfig,
    signers::{LOADTEST, ROLES, SignerConfig},
    sources::Sources,
    traces::TracesConfig,
    tx::TxConfig,
    web::WebConfig,
};

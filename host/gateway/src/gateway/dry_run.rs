//! A dry run of the start, for `gateway check`: all that can fail before the gateway serves, on an empty database of its own.
//!
//! The rule: nothing outside of a temporary folder changes, no port is opened, and no job, index or transaction runs.

use super::{
    Gateway,
    start::{StartError, build},
};
use crate::{
    database_settings::database_settings,
    lifecycle::StartMode,
    operators::PluginHistory,
    tls::{TlsError, certificate_notes},
};
use futures_util::future::BoxFuture;
use gateway_clock::Clock;
use gateway_config::{Config, SecretsConfig};
use gateway_egress::SystemResolver;
use gateway_plugins::{LoadedPlugin, PluginReport};
use gateway_secrets::Secrets;
use gateway_signers::Signers;
use gateway_storage::{Database, Dialect};
use secrecy::SecretString;
use std::sync::Arc;

/// What a start with this configuration would find.
#[derive(Debug, Default)]
pub struct DryRunReport {
    /// One for each plugin that is on and would not serve.
    pub failed: Vec<FailedPlugin>,
    /// The keys that cannot be used: role and reason.
    pub keys: Vec<(String, String)>,
    /// Why the database could not be opened.
    pub database: Option<String>,
    /// Why the listener could not speak TLS.
    pub tls: Option<TlsError>,
    /// What is no problem, and worth to know.
    pub notes: Vec<String>,
    /// What would end the start.
    pub fatal: Option<StartError>,
}

/// A plugin that would not serve, and everything that keeps it from that.
#[derive(Debug)]
pub struct FailedPlugin {
    pub report: PluginReport,
    pub reasons: Vec<String>,
}

/// Constructs, migrates and mounts the plugins that are on, opens every key, and connects to the database. `history` says what
/// operators decided and who came earlier.
pub fn dry_run_start(
    config: Config,
    loaded: Vec<LoadedPlugin>,
    history: PluginHistory,
) -> BoxFuture<'static, DryRunReport> {
    Box::pin(async move {
        let keys = open_keys(config.clone()).await;
        let database = check_database(&config).await;
        let (notes, tls) = match check_tls(config.clone()).await {
            Ok(notes) => (notes, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let secrets_fault = find_secrets_fault(&config).await;
        let (failed, fatal) = match try_plugins(config, loaded, history, secrets_fault).await {
            Ok(failed) => (failed, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        DryRunReport { failed, keys, database, tls, notes, fatal }
    })
}

async fn open_keys(mut config: Config) -> Vec<(String, String)> {
    let open = move || Signers::find_faults(&mut config);
    tokio::task::spawn_blocking(open)
        .await
        .unwrap_or_else(|error| vec![("gateway".to_owned(), format!("opening the keys ended badly: {error}"))])
}

async fn check_tls(config: Config) -> Result<Vec<String>, TlsError> {
    let check = move || certificate_notes(&config);
    tokio::task::spawn_blocking(check).await.unwrap_or_else(|_| Ok(Vec::new()))
}

async fn check_database(config: &Config) -> Option<String> {
    let settings = database_settings(config).ok()?;
    Database::check(settings).await.err().map(|error| error.to_string())
}

/// Why plugins that keep secrets would not serve.
async fn find_secrets_fault(config: &Config) -> Option<String> {
    Secrets::find_fault(config, database_settings(config).ok()?).await
}

async fn try_plugins(
    mut config: Config,
    loaded: Vec<LoadedPlugin>,
    history: PluginHistory,
    secrets_fault: Option<String>,
) -> Result<Vec<FailedPlugin>, StartError> {
    // An address that names no database is a problem of its own.
    let dialect = database_settings(&config).ok().and_then(|settings| settings.dialect().ok());
    let dialect = dialect.unwrap_or(Dialect::Sqlite);
    let data_dir = config.data_dir.display().to_string();
    let folder =
        tempfile::tempdir().map_err(|error| StartError::DataDir { path: data_dir, reason: error.to_string() })?;
    config.data_dir = folder.path().to_owned();
    let database = folder.path().join("check.db");
    config.database.url = Some(SecretString::from(format!("sqlite:{}", database.display())));
    // They were opened above, which takes a second for each keystore.
    config.signers.clear();
    // Those of plugins were looked for above, beside the database that they belong to.
    config.secrets = SecretsConfig::default();
    let bound = config.http.listen;
    let (containment_requests, _requests) = tokio::sync::mpsc::unbounded_channel();
    let gateway: Gateway =
        build(config, Clock::System, Arc::new(SystemResolver), bound, containment_requests, StartMode::DryRun(dialect))
            .await?;
    if let Some(reason) = secrets_fault {
        gateway.secrets.refuse(reason);
    }
    gateway.plugins.assume(history);
    gateway.plugins.start(loaded.into_iter().map(Ok).collect()).await;
    gateway.plugins.settled(&gateway.plugins.wanted().into_iter().collect()).await;
    let reports = gateway.plugins.reports().into_iter().filter(PluginReport::is_failure);
    let failed = reports.map(|report| FailedPlugin { reasons: gateway.plugins.obstacles_of(&report.name), report });
    let failed = failed.collect();
    gateway.stop().await;
    Ok(failed)
}

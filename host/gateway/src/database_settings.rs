//! How the database of the configuration is opened.

use gateway_config::{Config, DatabaseTarget, DatabaseUrlError, Synchronous};
use gateway_storage::DatabaseSettings;
use secrecy::ExposeSecret as _;

#[derive(Debug, thiserror::Error)]
#[error("the database URL is not valid: {0}")]
pub struct DatabaseSettingsError(#[from] DatabaseUrlError);

pub fn database_settings(config: &Config) -> Result<DatabaseSettings, DatabaseSettingsError> {
    let url = match config.database_target()? {
        DatabaseTarget::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseTarget::Postgres(url) => url.expose_secret().to_owned(),
    };
    Ok(DatabaseSettings {
        synchronous_full: config.database.synchronous == Synchronous::Full,
        read_connections: u32::try_from(config.database.read_connections).unwrap_or(u32::MAX),
        write_group_max: config.database.write_group_max,
        pool_max: config.database.pool_max,
        prepared: config.database.prepared,
        listen_url: config.database.listen_url.clone(),
        read_urls: config.database.read_urls.clone(),
        statement_timeout_ms: config.database.statement_timeout_ms,
        slow_statement_ms: config.database.slow_statement_ms,
        transaction_timeout_ms: config.database.transaction_timeout_ms,
        staleness_ms: config.database.staleness_ms,
        ..DatabaseSettings::new(url)
    })
}

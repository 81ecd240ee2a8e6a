//! Single connections of sqlx, for tools: checks, backups and what looks into a database that is not open here.

use super::{
    error::{no_answer, storage_error},
    server_address::sqlx_options,
};
use crate::{error::StorageError, settings::DatabaseSettings};
use secrecy::SecretString;
use sqlx::{Connection as _, PgConnection};
use std::time::Duration;
use tokio::time::{error::Elapsed, timeout};

/// Whether the server accepts a connection.
pub(crate) async fn check(settings: &DatabaseSettings) -> Result<(), StorageError> {
    in_time(settings, async { close(connect(&settings.url).await?).await }).await
}

/// See [`crate::Database::peek_texts`].
pub(crate) async fn peek_texts(
    settings: &DatabaseSettings,
    table: &str,
    query: &'static str,
) -> Result<Vec<String>, StorageError> {
    let peek = async {
        let mut connection = connect(&settings.url).await?;
        // A pooler keeps the connection to one server for a transaction only.
        let mut transaction = connection.begin().await.map_err(storage_error)?;
        let is_there = sqlx::query_scalar::<_, bool>("SELECT to_regclass($1) IS NOT NULL").bind(table);
        let is_there = is_there.persistent(false).fetch_one(&mut *transaction).await.map_err(storage_error)?;
        let texts = if is_there {
            let texts = sqlx::query_scalar(query).persistent(false);
            texts.fetch_all(&mut *transaction).await.map_err(storage_error)?
        } else {
            Vec::new()
        };
        transaction.rollback().await.map_err(storage_error)?;
        close(connection).await?;
        Ok(texts)
    };
    in_time(settings, peek).await
}

/// Opens a single connection, outside any pool.
pub(crate) async fn connect(url: &SecretString) -> Result<PgConnection, StorageError> {
    PgConnection::connect_with(&sqlx_options(url)?).await.map_err(storage_error)
}

pub(crate) async fn close(connection: PgConnection) -> Result<(), StorageError> {
    connection.close().await.map_err(storage_error)
}

async fn in_time<T>(
    settings: &DatabaseSettings,
    work: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    let limit = Duration::from_millis(settings.statement_timeout_ms);
    timeout(limit, work).await.map_err(|_elapsed: Elapsed| no_answer()).flatten()
}

//! Whether a gateway, or another command, has a database open.

use crate::{
    dialect::Dialect,
    error::StorageError,
    postgres,
    settings::DatabaseSettings,
    sqlite::{DatabaseFileLock, LockError},
};
use futures_util::future::BoxFuture;

/// Whether a restore would be refused now.
pub fn is_in_use(settings: &DatabaseSettings) -> BoxFuture<'_, Result<bool, StorageError>> {
    Box::pin(async move {
        match settings.dialect()? {
            Dialect::Sqlite => match DatabaseFileLock::exclusive(&settings.sqlite_path()?) {
                Ok(_) => Ok(false),
                Err(LockError::InUse) => Ok(true),
                Err(error @ LockError::Failed(_)) => Err(StorageError::Unavailable(error.to_string())),
            },
            Dialect::Postgres => {
                let mut connection = postgres::connect(&settings.url).await?;
                postgres::gateway_registration::is_in_use(&mut connection).await
            }
        }
    })
}

//! The size of the stored data.

use crate::{database::Database, dialect::Dialect, error::StorageError};
use plugin_api::sql;

impl Database {
    /// The size of the data, on either engine. On SQLite with what only the log has yet, unlike [`crate::DatabaseResources::file_bytes`].
    pub async fn size_bytes(&self) -> Result<u64, StorageError> {
        let size = match self.dialect() {
            Dialect::Sqlite => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            Dialect::Postgres => "SELECT pg_database_size(current_database())",
        };
        let sizes: Vec<u64> = self.fetch_all(sql(size)).await?;
        Ok(sizes.into_iter().next().unwrap_or_default())
    }
}

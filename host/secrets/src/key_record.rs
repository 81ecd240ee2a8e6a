//! Which master keys the database's secrets are sealed with.
//!
//! The rule: a key is generated only for a database that never had one, so that a restored database, or a second gateway on one
//! database, does not go on with a key that opens nothing.

use super::master_key::KeyId;
use gateway_storage::{Database, DatabaseSettings, StorageError};
use plugin_api::{manifest::MigrationSpec, sql};

const TABLE: &str = "CREATE TABLE host_secret_keys (
    position BIGINT NOT NULL PRIMARY KEY,
    key_id TEXT NOT NULL UNIQUE,
    since_s BIGINT NOT NULL
)";

pub fn migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "secret_keys", TABLE)
}

const SELECT: &str = "SELECT key_id FROM host_secret_keys ORDER BY position";

/// The ids of the keys that ever sealed, the oldest first.
pub(crate) async fn read(database: &Database) -> Result<Vec<String>, StorageError> {
    database.fetch_all(sql(SELECT)).await
}

/// As [`read`], of a database that is not open here.
pub(crate) async fn peek(settings: DatabaseSettings) -> Result<Vec<String>, StorageError> {
    Database::peek_texts(settings, "host_secret_keys", SELECT).await
}

/// Notes that this key seals from now on, unless another gateway has noted one since `recorded` was read.
pub(crate) async fn add(database: &Database, recorded: &[String], id: KeyId, now_s: i64) -> Result<(), StorageError> {
    let position = i64::try_from(recorded.len()).unwrap_or(i64::MAX);
    let insert =
        sql("INSERT INTO host_secret_keys (position, key_id, since_s) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
    let insert = insert.bind((position, id.to_string(), now_s));
    database.execute(insert).await.map(drop)
}

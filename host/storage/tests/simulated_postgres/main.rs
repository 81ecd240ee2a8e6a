//! The simulated PostgreSQL, held against a real one: `GATEWAY_TEST_POSTGRES` names the server.
//!
//! The same random scripts run on both. Rows, numbers of changed rows, kinds of errors and what a second connection sees must be the same;
//! only serialisation failures may differ in number, since the model finds some where the server does not, and the other way round.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod faults;
mod overlapping;
mod random;
mod sequential;
mod statements;

use gateway_storage::{
    Database, DatabaseSettings, Isolation, MigrationSet, Scope, SimulatedPostgres, StorageError, ViewNames,
};
use plugin_api::{
    abi::{Cell, Rows, StatementResult},
    manifest::MigrationSpec,
};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use std::sync::Arc;

const TABLES: &str = "
CREATE TABLE forum_items (
    id BIGINT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    n BIGINT NOT NULL CHECK (n >= 0),
    note TEXT,
    CONSTRAINT forum_items_note UNIQUE (note)
);
CREATE TABLE forum_log (id {{id}}, item BIGINT NOT NULL, text TEXT NOT NULL DEFAULT '');
{{row_counts forum_items (kind)}}
{{row_counts forum_log ()}}
";

/// One server with two clients: the script's, and one that only looks.
pub struct Server {
    pub client: Database,
    pub observer: Database,
    pub simulated: Option<SimulatedPostgres>,
}

impl Server {
    pub async fn simulated(seed: u64) -> Self {
        let server = SimulatedPostgres::start(seed, || 1_767_225_600_000).unwrap();
        let url = server.url();
        Self { simulated: Some(server), ..Self::open(&url).await }
    }

    /// A new database.
    pub async fn real() -> Self {
        Self::open(&create_database().await).await
    }

    async fn open(url: &str) -> Self {
        // Statements and COMMIT share a synchronisation from the first one on when nobody asks how long one takes.
        let listen_url = Some(url.into());
        let settings = DatabaseSettings { slow_statement_ms: 0, listen_url, ..DatabaseSettings::new(url) };
        let open = || Database::open(settings.clone());
        let (client, observer) = (open().await.unwrap(), open().await.unwrap());
        let host = MigrationSpec {
            version: 1,
            name: "versions".to_owned(),
            sql: "SELECT 1".to_owned(),
            postgres: Some("CREATE TABLE host_changes (id {{id}}, owner TEXT NOT NULL)".to_owned()),
        };
        let tables = MigrationSpec { version: 1, name: "tables".to_owned(), sql: TABLES.to_owned(), postgres: None };
        for (scope, migration) in [(Scope::Host, host), (forum(Isolation::PluginLock), tables)] {
            let set = MigrationSet { scope: &scope, views: &[], migrations: &[migration] };
            assert_eq!(client.migrate(&set).await.unwrap().applied, [1]);
            assert_eq!(client.migrate(&set).await.unwrap().earlier, 1);
        }
        Self { client, observer, simulated: None }
    }

    /// Everything that is committed.
    pub async fn committed(&self) -> Vec<String> {
        let mut all = Vec::new();
        for sql in [
            "SELECT id, kind, n, note FROM forum_items ORDER BY id",
            "SELECT id, item, text FROM forum_log ORDER BY id",
            "SELECT kind, row_count FROM forum_items_counts ORDER BY kind",
            "SELECT row_count FROM forum_log_counts",
        ] {
            let rows = self.observer.read(&Scope::Host, plugin_api::sql(sql).into()).await.unwrap();
            all.push(format!("{:?}", rows_of(&rows)));
        }
        all
    }

    pub async fn close(self) {
        self.client.close().await;
        self.observer.close().await;
    }
}

pub fn forum(isolation: Isolation) -> Scope {
    Scope::plugin("forum", Arc::new(ViewNames::new())).with_isolation(isolation)
}

async fn create_database() -> String {
    let server = std::env::var("GATEWAY_TEST_POSTGRES").expect("GATEWAY_TEST_POSTGRES names a server");
    let id: String = std::iter::repeat_with(|| format!("{:08x}", rand_word())).take(3).collect();
    let mut connection = PgConnection::connect(&server).await.unwrap();
    connection
        .execute(AssertSqlSafe(format!(
            "CREATE DATABASE simulated_{id} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'"
        )))
        .await
        .unwrap();
    connection.close().await.unwrap();
    let (server, query) =
        server.split_once('?').map_or((server.as_str(), String::new()), |(s, q)| (s, format!("?{q}")));
    let (server, _) = server.rsplit_once('/').expect("the address names a database");
    format!("{server}/simulated_{id}{query}")
}

/// Of the process, not of a seed: names of databases only.
fn rand_word() -> u32 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let hash = std::collections::hash_map::RandomState::new().build_hasher().finish();
    u32::try_from(hash & u64::from(u32::MAX)).unwrap()
}

/// What both have to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The rows in any order where the statement gives none, and how many rows it changed.
    Rows(Vec<String>, u64),
    Error(&'static str),
}

pub fn answer(result: &Result<StatementResult, StorageError>, is_ordered: bool) -> Answer {
    match result {
        Ok(StatementResult { rows, changes }) => {
            let mut rows = rows_of(rows);
            if !is_ordered {
                rows.sort();
            }
            Answer::Rows(rows, *changes)
        }
        Err(error) => Answer::Error(kind_of(error)),
    }
}

pub fn kind_of(error: &StorageError) -> &'static str {
    match error {
        StorageError::Unavailable(_) => "unavailable",
        StorageError::Settings(_) => "settings",
        StorageError::Busy(_) => "busy",
        StorageError::Timeout(_) | StorageError::SlowStatement(_) => "timeout",
        StorageError::Conflict(_) => "conflict",
        StorageError::Statement(_) => "statement",
        StorageError::Constraint(_) => "constraint",
        StorageError::Closed(_) => "closed",
        StorageError::Expired(_) => "expired",
        StorageError::Rejected(_) => "rejected",
        StorageError::Migration(_) | StorageError::Internal(_) => "internal",
    }
}

pub fn rows_of(rows: &Rows) -> Vec<String> {
    let columns = rows.columns().unwrap().len().max(1);
    let cells: Vec<String> = rows.cells().unwrap().map(|cell| cell_text(cell.unwrap())).collect();
    cells.chunks(columns).map(|row| row.join("|")).collect()
}

fn cell_text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => format!("{value:?}r"),
        Cell::Text(value) => format!("{value:?}"),
        Cell::Blob(value) => format!("{value:?}"),
    }
}

pub fn one(result: Result<Vec<StatementResult>, StorageError>) -> Result<StatementResult, StorageError> {
    result.map(|results| results.into_iter().next().expect("a statement has a result"))
}

pub fn seeds(default: u64) -> std::ops::Range<u64> {
    match std::env::var("SIMULATED_POSTGRES_SEED") {
        Ok(seed) => {
            let seed = seed.parse().unwrap();
            seed..seed + 1
        }
        Err(_unset) => 0..default,
    }
}

//! The storage, every case on both databases unless it is about one of them.

mod commit;
mod failure;
mod group;
mod host_tables;
mod inline;
mod isolation;
mod migration;
mod pipeline;
mod plugin_objects;
mod presence;
mod property;
mod read;
mod row_counts;
mod search;
mod shared_sync;
mod slow;
mod slow_statements;
mod transaction;
mod value;

use gateway_storage::{
    CommitStatement, Database, DatabaseSettings, MigrationReport, MigrationSet, Scope, StorageError, Transaction,
    ViewNames,
};
use plugin_api::{
    abi::{Cell, Rows, Statement, StatementResult, Value},
    manifest::MigrationSpec,
};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// A database of the test's own.
pub struct TestDatabase {
    pub database: Database,
    pub settings: DatabaseSettings,
    directory: tempfile::TempDir,
}

impl TestDatabase {
    pub async fn new(engine: Engine) -> Self {
        Self::tuned(engine, |_| {}).await
    }

    pub async fn tuned(engine: Engine, tune: impl FnOnce(&mut DatabaseSettings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = match engine {
            Engine::Sqlite => format!("sqlite:{}", directory.path().join("gateway.db").display()),
            Engine::Postgres => gateway_tests::postgres::fresh_database().await.unwrap(),
        };
        let mut settings = DatabaseSettings::new(url);
        tune(&mut settings);
        let database = Database::open(settings.clone()).await.unwrap();
        Self { database, settings, directory }
    }

    /// With the table `forum_notes (id, body)`.
    pub async fn with_notes(engine: Engine) -> Self {
        Self::with_notes_tuned(engine, |_| {}).await
    }

    pub async fn with_notes_tuned(engine: Engine, tune: impl FnOnce(&mut DatabaseSettings)) -> Self {
        let db = Self::tuned(engine, tune).await;
        db.migrate("forum", &[migration(1, "CREATE TABLE forum_notes (id BIGINT PRIMARY KEY, body TEXT)")])
            .await
            .unwrap();
        db
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("gateway.db")
    }

    pub async fn migrate(&self, plugin: &str, migrations: &[MigrationSpec]) -> Result<MigrationReport, StorageError> {
        let schema = MigrationSet {
            scope: &plugin_scope(plugin),
            views: &[format!("{plugin}_v1"), "jobs_v1".to_owned()],
            migrations,
        };
        self.database.migrate(&schema).await
    }

    /// Writes as the gateway itself, in one transaction.
    pub async fn write(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let outcomes = transaction.run(statements).await?;
        transaction.commit(vec![]).await?;
        Ok(outcomes)
    }

    pub async fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        let rows = self.database.read(&Scope::Host, statement(sql, [])).await;
        values(&rows.unwrap())
    }

    pub async fn note_ids(&self) -> Vec<i64> {
        let rows = self.rows("SELECT id FROM forum_notes ORDER BY id").await;
        rows.iter().map(|row| int(&row[0])).collect()
    }

    pub fn forum(&self) -> Transaction {
        self.database.begin(plugin_scope("forum"))
    }

    /// Closes the database and opens it again.
    pub async fn reopen(&mut self) {
        self.database.close().await;
        self.database = Database::open(self.settings.clone()).await.unwrap();
    }
}

pub fn plugin_scope(plugin: &str) -> Scope {
    Scope::plugin(plugin, Arc::new(ViewNames::from(["agents_v1".to_owned()])))
}

pub fn statement(sql: &str, params: impl IntoIterator<Item = Value>) -> Statement {
    Statement { sql: sql.to_owned().into(), params: params.into_iter().collect() }
}

pub fn text(value: &str) -> Value {
    Value::Text(value.into())
}

pub fn blob(value: &[u8]) -> Value {
    Value::Blob(value.to_vec().into())
}

pub fn int(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value,
        other => panic!("{other:?} is no integer"),
    }
}

pub fn note(id: i64, body: &str) -> Statement {
    statement("INSERT INTO forum_notes (id, body) VALUES ($1, $2)", [Value::Int(id), text(body)])
}

pub fn last(statement: Statement) -> Vec<CommitStatement> {
    vec![CommitStatement::new(statement)]
}

pub fn migration(version: u32, sql: &str) -> MigrationSpec {
    MigrationSpec { version, name: format!("step_{version}"), sql: sql.to_owned(), postgres: None }
}

pub fn values(rows: &Rows) -> Vec<Vec<Value>> {
    let columns = rows.columns().unwrap().len().max(1);
    let cells: Vec<Value> = rows
        .cells()
        .unwrap()
        .map(|cell| match cell.unwrap() {
            Cell::Null => Value::Null,
            Cell::Int(value) => Value::Int(value),
            Cell::Real(value) => Value::Real(value),
            Cell::Text(value) => text(value),
            Cell::Blob(value) => blob(value),
        })
        .collect();
    cells.chunks(columns).map(<[Value]>::to_vec).collect()
}

/// Polls until the condition holds; fails when it takes too long.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let started = Instant::now();
    while !condition().await {
        assert!(started.elapsed() < Duration::from_secs(10), "never: {what}");
        tokio::task::yield_now().await;
    }
}

/// A statement that would count for hours.
pub fn endless() -> Statement {
    statement(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000)
         SELECT count(*) FROM n",
        [],
    )
}

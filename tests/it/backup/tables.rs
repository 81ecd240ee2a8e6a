//! Everything that a database holds, to be compared.

use gateway_tests::process::Setup;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, SqliteConnection};
use std::collections::BTreeMap;

/// Rows as text by table, in the order of that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables(pub BTreeMap<String, Vec<String>>);

const SQLITE_TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
/// The table of the gateways that have the database open is in no backup.
const POSTGRES_TABLES: &str =
    "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename <> 'host_gateways' ORDER BY tablename";

impl Tables {
    pub async fn read(setup: &Setup) -> Self {
        match setup.get("database.url").filter(|url| url.starts_with("postgres")) {
            Some(url) => Self::of_schema(url, "public").await,
            None => Self::of_file(&setup.folder().join("data/gateway.db")).await,
        }
    }

    pub async fn of_file(file: &std::path::Path) -> Self {
        let mut connection = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
        let mut tables = BTreeMap::new();
        let names: Vec<String> = sqlx::query_scalar(SQLITE_TABLES).fetch_all(&mut connection).await.unwrap();
        for name in names {
            let columns = sqlx::query("SELECT name FROM pragma_table_xinfo($1)").bind(&name);
            let columns = columns.fetch_all(&mut connection).await.unwrap();
            let quoted = columns.iter().map(|row| format!("quote(\"{}\")", row.get::<String, _>(0)));
            let text = quoted.collect::<Vec<_>>().join(" || ',' || ");
            let rows = sqlx::query_scalar(AssertSqlSafe(format!("SELECT {text} FROM \"{name}\" ORDER BY 1")));
            tables.insert(name, rows.fetch_all(&mut connection).await.unwrap());
        }
        let found: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
        assert_eq!(found, "ok");
        connection.close().await.unwrap();
        Self(tables)
    }

    pub async fn of_schema(url: &str, schema: &str) -> Self {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let mut tables = BTreeMap::new();
        let names = sqlx::query_scalar(POSTGRES_TABLES).bind(schema).fetch_all(&mut connection).await.unwrap();
        for name in names {
            let text = format!("SELECT t::text FROM {schema}.\"{name}\" t ORDER BY 1");
            tables.insert(name, sqlx::query_scalar(AssertSqlSafe(text)).fetch_all(&mut connection).await.unwrap());
        }
        Self(tables)
    }

    /// Without what the commands themselves leave: rows in the audit, the time of a restore, and what SQLite notes of tables when it is closed.
    pub fn without_own_traces(mut self) -> Self {
        self.0.retain(|table, _| !table.starts_with("sqlite_stat"));
        if let Some(audit) = self.0.get_mut("host_audit") {
            audit.retain(|row| !row.contains("command line, uid"));
        }
        if let Some(restores) = self.0.get_mut("host_restores") {
            restores.clear();
        }
        if let Some(sequences) = self.0.get_mut("sqlite_sequence") {
            sequences.retain(|row| !row.contains("host_audit"));
        }
        self
    }

    pub fn rows(&self, table: &str) -> &[String] {
        self.0.get(table).map(Vec::as_slice).unwrap_or_default()
    }
}

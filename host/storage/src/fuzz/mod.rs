//! SQL of plugins: the check does not panic, and what it allows on SQLite uses only the plugin's own tables, as
//! SQLite's own authorizer reports.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::{
    check::{AccessMode, StatementChecker},
    dialect::Dialect,
    scope::Scope,
};
use abi_stable::std_types::RVec;
use gateway_fuzz_seeds::Seeds;
use parking_lot::Mutex;
use plugin_api::abi::{Statement, Value};
use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};
use std::{panic::AssertUnwindSafe, sync::Arc};

const WORDS: &[&str] = &[
    "SELECT ",
    " FROM ",
    " WHERE ",
    " AND ",
    "NOT ",
    "-",
    "forum_threads",
    "forum_posts",
    "host_jobs",
    "\"host_jobs\"",
    "main.host_jobs",
    "sqlite_master",
    "pragma_table_info('host_jobs')",
    "pg_catalog.pg_class",
    "$1",
    "?",
    "'",
    "''",
    "\"",
    "\\",
    "--",
    "/*",
    "*/",
    "$$",
    "E'",
    "x'",
    ";",
    "(",
    ")",
    ",",
    "*",
    "::",
    "||",
    "->>",
    "NULL",
    "INSERT INTO ",
    " VALUES (1)",
    "UPDATE ",
    " SET title = 1",
    "DELETE FROM ",
    " RETURNING *",
    " UNION ALL ",
    "WITH RECURSIVE a AS (",
    " ORDER BY ",
    " LIMIT 1",
    " IN (SELECT id FROM host_jobs)",
    "EXISTS (SELECT 1 FROM host_jobs)",
    "CASE WHEN ",
    "CREATE TABLE forum_x AS ",
    "PRAGMA user_version",
    "ATTACH 'x' AS y",
    "VACUUM",
    "1e999",
    "0x1f",
    "\0",
    "\u{e9}",
    "\n",
    "\r",
    "((((((((",
    " ON CONFLICT DO NOTHING",
    " JOIN host_jobs ON true",
    " INDEXED BY x",
    "[host_jobs]",
    "`host_jobs`",
];

const SCHEMA: &str = "CREATE TABLE forum_threads (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
    CREATE TABLE forum_posts (id INTEGER PRIMARY KEY, thread INTEGER, author TEXT, body TEXT);
    CREATE TABLE host_jobs (id INTEGER PRIMARY KEY, name TEXT);";

const NOT_A_TABLE: &str = "something that is no table";

/// Names that SQLite asked the authorizer about, without those of the plugin.
type ForeignNames = Arc<Mutex<Vec<String>>>;

fn database() -> (Connection, ForeignNames) {
    let (connection, foreign) = (Connection::open_in_memory().unwrap(), ForeignNames::default());
    connection.execute_batch(SCHEMA).unwrap();
    let recorded = Arc::clone(&foreign);
    let authorize = move |context: AuthContext<'_>| {
        let table = match context.action {
            AuthAction::Read { table_name, .. }
            | AuthAction::Insert { table_name }
            | AuthAction::Update { table_name, .. }
            | AuthAction::Delete { table_name } => table_name,
            AuthAction::Select | AuthAction::Function { .. } | AuthAction::Recursive => return Authorization::Allow,
            _ => NOT_A_TABLE,
        };
        if matches!(table, "host_jobs" | "sqlite_master" | "sqlite_schema" | NOT_A_TABLE) {
            recorded.lock().push(table.to_owned());
        }
        Authorization::Allow
    };
    connection.authorizer(Some(authorize)).unwrap();
    (connection, foreign)
}

#[test]
fn statements() {
    let seeds = Seeds::load(env!("CARGO_MANIFEST_DIR"), "statements", WORDS);
    let scope = Scope::plugin("forum", Arc::default());
    let fixture = AssertUnwindSafe(([Dialect::Sqlite, Dialect::Postgres].map(StatementChecker::new), database()));
    bolero::check!(name = "statements").for_each(|input: &[u8]| {
        let ([sqlite, postgres], (connection, foreign)) = &*fixture;
        seeds.run(input, |bytes| {
            let sql = String::from_utf8_lossy(bytes).into_owned();
            let count = (1..10).filter(|number| sql.contains(&format!("${number}"))).count();
            let params: RVec<Value> = std::iter::repeat_n(Value::Int(1), count).collect();
            let statement = Statement { sql: sql.clone().into(), params };
            // Only a panic is a failure here, not a refusal.
            let _ = postgres.check(&scope, statement.clone(), AccessMode::ReadWrite);
            if sqlite.check(&scope, statement, AccessMode::ReadWrite).is_ok() {
                // It may fail, for example on an unknown column.
                let _ = connection.prepare(&sql);
                let foreign = std::mem::take(&mut *foreign.lock());
                // SQLite reports the name of a WITH like that of a table.
                let has_cte = sql.to_ascii_uppercase().contains("WITH");
                assert!(foreign.is_empty() || has_cte, "{sql:?} reaches {foreign:?}");
            }
        });
    });
}

//! SQL of plugins: looked at without a panic, and with one verdict for both databases.

use super::seeds::Seeds;
use crate::storage::{
    Dialect, Scope,
    check::{Checker, Purpose},
};
use abi_stable::std_types::RVec;
use plugin_api::abi::{Statement, Value};
use std::sync::Arc;

const WORDS: &[&str] = &[
    "SELECT ",
    " FROM ",
    " WHERE ",
    " AND ",
    "forum_threads",
    "host_jobs",
    "sqlite_master",
    "pg_catalog.pg_class",
    "$1",
    "$2",
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
    " VALUES ",
    "UPDATE ",
    " SET ",
    "DELETE FROM ",
    " RETURNING ",
    " UNION ",
    "WITH a AS (",
    " ORDER BY ",
    " LIMIT ",
    "CREATE TABLE ",
    "PRAGMA ",
    "ATTACH ",
    "COPY ",
    "1e999",
    "0x1f",
    "\0",
    "\u{e9}",
    "\n",
    "((((((((",
];

#[test]
fn statements() {
    let seeds = Seeds::of("statements", WORDS);
    let scope = Scope::plugin("forum", Arc::default());
    let checkers = std::panic::AssertUnwindSafe([Dialect::Sqlite, Dialect::Postgres].map(Checker::new));
    bolero::check!(name = "statements").for_each(|input: &[u8]| {
        seeds.each(input, |bytes| {
            let sql = String::from_utf8_lossy(bytes).into_owned();
            // The placeholders that it has are not known here; any number of values but one is refused for that.
            for count in 0..3 {
                let params: RVec<_> = std::iter::repeat_n(Value::Int(1), count).collect();
                let [sqlite, postgres] = checkers.each_ref().map(|checker| {
                    let statement = Statement { sql: sql.clone().into(), params: params.clone() };
                    checker
                        .admit(&scope, statement, Purpose::Transaction)
                        .map(|_| ())
                        .map_err(|error| error.to_string())
                });
                assert_eq!(sqlite, postgres, "{sql:?}");
            }
        });
    });
}

//! `{{queue TABLE}}` in a migration: the tables of a durable queue, which `host/queue` reads and writes.
//!
//! The rule: what a plugin's write does here conflicts with no other write. A push only inserts, into `TABLE` and `TABLE_pushed`. An
//! outcome changes the key's row in columns without an index (`ended…`), on a page that has room for it, so that PostgreSQL adds
//! nothing to an index that others read. All the rest is the gateway's, in transactions that no serialisable one conflicts with.

use super::directive::Directive;
use crate::dialect::Dialect;
use std::fmt::Write as _;

/// `due_ms` of a task is 0 when it is due at once: these start in the order of their ids. A key is leased while its `token` is not 0;
/// its `due_ms` is when there is something to do for it, and the greatest number while there is nothing.
pub(crate) fn write(sql: &mut String, Directive { table, .. }: &Directive<'_>, dialect: Dialect) -> std::fmt::Result {
    let room = if dialect == Dialect::Postgres { " WITH (fillfactor = 50)" } else { "" };
    write!(
        sql,
        "CREATE TABLE {table} (id {{{{id}}}}, key TEXT NOT NULL, group_key TEXT NOT NULL, payload TEXT NOT NULL, \
             pushed_ms BIGINT NOT NULL, due_ms BIGINT NOT NULL, attempt BIGINT NOT NULL DEFAULT 0, \
             lost BIGINT NOT NULL DEFAULT 0, error TEXT, unique_key TEXT UNIQUE); \
         CREATE INDEX {table}_next ON {table} (key, due_ms, id); \
         CREATE TABLE {table}_pushed (id {{{{id}}}}, key TEXT NOT NULL, group_key TEXT NOT NULL, due_ms BIGINT NOT NULL); \
         CREATE TABLE {table}_keys (key TEXT NOT NULL PRIMARY KEY, group_key TEXT NOT NULL, due_ms BIGINT NOT NULL, \
             is_slow BIGINT NOT NULL DEFAULT 0, token BIGINT NOT NULL DEFAULT 0, \
             lease_until_ms BIGINT NOT NULL DEFAULT 0, task_id BIGINT NOT NULL DEFAULT 0, \
             ended BIGINT NOT NULL DEFAULT 0, ended_due_ms BIGINT NOT NULL DEFAULT 0, \
             ended_slow BIGINT NOT NULL DEFAULT 0, ended_error TEXT NOT NULL DEFAULT ''){room}; \
         CREATE INDEX {table}_keys_due ON {table}_keys (is_slow, due_ms, group_key) WHERE token = 0; \
         CREATE INDEX {table}_keys_leases ON {table}_keys (lease_until_ms) WHERE token <> 0; \
         CREATE TABLE {table}_dead (id BIGINT NOT NULL PRIMARY KEY, key TEXT NOT NULL, group_key TEXT NOT NULL, \
             payload TEXT NOT NULL, pushed_ms BIGINT NOT NULL, attempt BIGINT NOT NULL, error TEXT NOT NULL, \
             dead_ms BIGINT NOT NULL); \
         CREATE INDEX {table}_dead_ms ON {table}_dead (dead_ms);"
    )
}

//! The activity log, newest first. Read only: the gateway stores the events that plugins publish with their writes.
//!
//! The rule: a page costs the same however long the log is. Where few events pass a filter, an index finds these and they are sorted;
//! where many do, the newest of them are near the end of the log, from which it is read.

use plugin_api::{Address, HostError, List, Query, Sql, sql, stream};
use serde_json::value::RawValue;

/// Its rows decode as [`stream::ActivityRecord`]s.
const LOG: List = List::new("host_activity_v1", "id, type, ts, actor, ref_kind, ref_id, data").order_by("id DESC");

/// So many events are rather sorted than looked for in the log.
const FEW: i64 = 2_000;

/// Selects events; 0 filters nothing.
pub struct LogFilter {
    pub after_ts: i64,
    pub after_id: i64,
    /// A type, or a prefix that ends in a dot.
    pub kind: Option<String>,
    pub actor: Option<Address>,
}

pub async fn newest(db: &impl Query, filter: LogFilter, limit: u32) -> Result<Vec<stream::TopicRow>, HostError> {
    let (prefix, kind) = match filter.kind {
        Some(prefix) if prefix.ends_with('.') => (Some(prefix), None),
        kind => (None, kind),
    };
    let mut hits = Vec::new();
    if let Some(prefix) = &prefix {
        let types: Vec<String> = db.rows(sql(TYPES)).await?;
        let found: Vec<&String> = types.iter().filter(|name| name.starts_with(prefix)).collect();
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let begun = sql("SELECT id FROM host_activity_v1 WHERE type IN (''");
        hits.push(found.into_iter().fold(begun, |select, name| select.push_bind(", {}", name)).push(")"));
    }
    if filter.after_ts != 0 {
        hits.push(sql("SELECT id FROM host_activity_v1 WHERE ts > $1").bind(filter.after_ts));
    }
    let log = LOG
        .filter("id > {}", (filter.after_id != 0).then_some(filter.after_id))
        .filter("ts > {}", (filter.after_ts != 0).then_some(filter.after_ts))
        .filter("type = {}", kind)
        // `LIKE` ignores case on SQLite, and a range depends on the locale on PostgreSQL.
        .filter("substr(type, 1, length({})) = {}", prefix)
        .filter("actor = {}", filter.actor);
    let log = match first_of_few(db, hits).await? {
        Some(few) => log.hits("id", few),
        None => log,
    };
    let records: Vec<stream::ActivityRecord<Box<RawValue>>> = log.first(limit).rows(db).await?;
    Ok(records.into_iter().map(stream::TopicRow::from).collect())
}

/// The types that there are: each is looked up in the index behind the one before.
const TYPES: &str = "WITH RECURSIVE types (type) AS (\
    SELECT (SELECT a.type FROM host_activity_v1 a ORDER BY a.type LIMIT 1) UNION ALL \
    SELECT (SELECT b.type FROM host_activity_v1 b WHERE b.type > t.type ORDER BY b.type LIMIT 1) \
        FROM types t WHERE t.type IS NOT NULL) \
    SELECT type FROM types WHERE type IS NOT NULL";

/// The first of these statements that selects few events.
async fn first_of_few(db: &impl Query, selects: Vec<Sql>) -> Result<Option<Sql>, HostError> {
    for select in selects {
        let some = sql("SELECT count(*) FROM (").push_sql(select.clone()).push_bind(" LIMIT {}) AS few", FEW);
        if db.one::<i64>(some).await? < FEW {
            return Ok(Some(select));
        }
    }
    Ok(None)
}

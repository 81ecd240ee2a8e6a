//! The activity log, newest first. Read only: the gateway stores the events that plugins publish with their writes.

use plugin_api::{Address, HostError, List, Query, stream};
use serde_json::value::RawValue;

/// Its rows decode as [`stream::ActivityRecord`]s.
const LOG: List = List::new("host_activity_v1", "id, type, ts, actor, ref_kind, ref_id, data").order_by("id DESC");

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
    let log = LOG
        .filter("id > {}", Some(filter.after_id))
        .filter("ts > {}", Some(filter.after_ts))
        .filter("type = {}", kind)
        // `LIKE` ignores case on SQLite, and a range depends on the locale on PostgreSQL.
        .filter("substr(type, 1, length({})) = {}", prefix)
        .filter("actor = {}", filter.actor);
    let records: Vec<stream::ActivityRecord<Box<RawValue>>> = log.page(limit, 0).rows(db).await?;
    Ok(records.into_iter().map(stream::TopicRow::from).collect())
}

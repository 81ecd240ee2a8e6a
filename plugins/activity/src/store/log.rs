//! The activity log, newest first. Read only: the gateway stores the events that plugins publish with their writes.

use crate::model::TypeFilter;
use plugin_api::{
    Address, HostError, Query, Sql,
    manifest::{ActivityRecord, ActivityRow},
    sql,
};

/// Selects events; 0 filters nothing.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    pub after_ts: i64,
    pub after_id: i64,
    pub kind: Option<TypeFilter>,
    pub actor: Option<Address>,
}

pub async fn newest(db: &impl Query, filter: LogFilter, limit: u32) -> Result<Vec<ActivityRow>, HostError> {
    let records: Vec<ActivityRecord> = db.rows(select(filter, limit)).await?;
    Ok(records.into_iter().map(ActivityRow::from).collect())
}

fn select(filter: LogFilter, limit: u32) -> Sql {
    let mut select =
        sql("SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity_v1 WHERE id > $1 AND ts > $2")
            .bind(filter.after_id)
            .bind(filter.after_ts);
    select = match filter.kind {
        None => select,
        Some(TypeFilter::Exactly(kind)) => select.push_bind(" AND type = {}", kind),
        // `LIKE` ignores case on SQLite, and a range depends on the locale on PostgreSQL.
        Some(TypeFilter::StartingWith(prefix)) => {
            let length = prefix.chars().count();
            select.push_bind(&format!(" AND substr(type, 1, {length}) = {{}}"), prefix)
        }
    };
    if let Some(actor) = filter.actor {
        select = select.push_bind(" AND actor = {}", actor);
    }
    select.push_bind(" ORDER BY id DESC LIMIT {}", limit)
}

//! Leaves: which event each is, and its entry. And the activity log, from which they come.

use crate::model::{self, LogEvent};
use plugin_api::{HostError, Query, Sql, sql};

/// Events that are appended at a time: a checkpoint costs as much as several hundred of them.
const PAGE: usize = 2_000;
/// Rows of one statement.
const PART: usize = 500;
/// Of the data of a page, except that the last part may be longer.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The log with the events that were retracted: they stay in the tree.
const NEXT: &str = "SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity_with_retracted_v1 \
    WHERE id > $1 ORDER BY id LIMIT $2";

/// At most so many.
pub async fn next_events(db: &impl Query, after: i64, limit: u64) -> Result<Vec<LogEvent>, HostError> {
    db.rows(sql(NEXT).bind((after, limit))).await
}

/// The events of the next page.
pub async fn next_page(db: &impl Query, mut after: i64) -> Result<Vec<LogEvent>, HostError> {
    let (mut events, mut bytes) = (Vec::new(), 0);
    loop {
        let part = next_events(db, after, PART as u64).await?;
        let is_last = part.len() < PART;
        bytes += part.iter().map(|event| event.data.len()).sum::<usize>();
        after = part.last().map_or(after, |event| event.id);
        events.extend(part);
        if is_last || events.len() >= PAGE || bytes >= PAGE_BYTES {
            return Ok(events);
        }
    }
}

/// The event of the last leaf; 0 without leaves.
pub async fn last_event(db: &impl Query, epoch: i64) -> Result<i64, HostError> {
    db.one(sql("SELECT coalesce(max(event_id), 0) FROM transparency_leaves WHERE epoch = $1").bind(epoch)).await
}

/// Consecutive entries, by their events.
pub fn insert(epoch: i64, first: u64, entries: &[(i64, Vec<u8>)]) -> impl Iterator<Item = Sql> {
    let parts = (first..).step_by(PART).zip(entries.chunks(PART));
    parts.filter_map(move |(first, part)| {
        let rows = (first..).zip(part).map(|(leaf, (event_id, entry))| (epoch, leaf, *event_id, &**entry));
        Sql::insert_rows("transparency_leaves", "epoch, leaf, event_id, entry", rows)
    })
}

/// The bundle of these entries; `None` when they are not all there.
pub async fn bundle(db: &impl Query, epoch: i64, first: u64, count: usize) -> Result<Option<Vec<u8>>, HostError> {
    let select = "SELECT entry FROM transparency_leaves WHERE epoch = $1 AND leaf >= $2 AND leaf < $3 ORDER BY leaf";
    let end = first.saturating_add(count as u64);
    let result = db.run(sql(select).bind((epoch, first, end))).await?;
    let entries: Vec<(&[u8],)> = result.all()?;
    Ok((entries.len() == count).then(|| model::bundle(entries.into_iter().map(|(entry,)| entry))))
}

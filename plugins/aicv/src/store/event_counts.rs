//! How many events of each type an actor published: counters up to a cursor in the activity log, and the log itself behind it.
//!
//! The rule: the counters have each event up to the cursor once, also one that a reorganisation has retracted. Those are subtracted when
//! the counters are read, by the gateway's own list of them. So the sum is that of the log in the snapshot of the one statement.

use plugin_api::{Address, HostError, HostErrorCode, Query, Sql, Tx, sql};
use std::collections::{BTreeMap, BTreeSet};

/// Events of one transaction.
const PAGE: usize = 2_000;
/// Rows of one statement.
const ROWS_MAX: usize = 500;

/// The rows behind the cursor are found by the index of actors and ids. PostgreSQL takes it because of the upper bound, with which it
/// expects a small part of them, and because of `ref_kind`, which no index has: otherwise it may read all events of the actor in the
/// index that has their types. SQLite takes it unless the rows are grouped within.
const COUNT: &str = "SELECT type, CAST(sum(n) AS BIGINT) FROM ( \
    SELECT type, event_count AS n FROM aicv_event_counts WHERE actor = $1 \
    UNION ALL \
    SELECT type, CASE WHEN ref_kind IS NULL THEN 1 ELSE 1 END AS n FROM host_activity_v1 WHERE actor = $1 \
        AND id > (SELECT event_id FROM aicv_event_cursor WHERE id = 1) AND id <= 9223372036854775807 \
    UNION ALL \
    SELECT type, -1 AS n FROM host_activity_retracted_v1 WHERE actor = $1 \
        AND id <= (SELECT event_id FROM aicv_event_cursor WHERE id = 1) \
    ) AS counted GROUP BY type";

/// How many events of each of these types the address published. Events that a reorganisation retracted do not count.
pub async fn count(
    db: &impl Query,
    actor: Address,
    types: &BTreeSet<String>,
) -> Result<BTreeMap<String, i64>, HostError> {
    let counts: Vec<(String, i64)> = db.rows(sql(COUNT).bind(actor)).await?;
    Ok(counts.into_iter().filter(|(kind, count)| types.contains(kind) && *count > 0).collect())
}

/// Consecutive events of the log that are to be counted: at least one.
pub struct EventPage {
    after: i64,
    up_to: i64,
    events: usize,
    /// By actor and type.
    counts: BTreeMap<(String, String), i64>,
}

impl EventPage {
    /// Whether there were no more.
    pub fn is_last(&self) -> bool {
        self.events < PAGE
    }
}

/// The log with the retracted events: nothing comes into it up to its last row any more. Each part ends at the limit, because PostgreSQL
/// would read and sort all of it otherwise.
const NEXT: &str = "SELECT id, actor, type FROM ( \
    SELECT id, actor, type FROM host_activity_v1 WHERE id > $1 ORDER BY id LIMIT $2) AS stands \
    UNION ALL SELECT id, actor, type FROM ( \
    SELECT id, actor, type FROM host_activity_retracted_v1 WHERE id > $1 ORDER BY id LIMIT $2) AS retracted \
    ORDER BY id LIMIT $2";

/// The events behind the cursor; `None` when there are none.
pub async fn next(db: &impl Query) -> Result<Option<EventPage>, HostError> {
    let after: i64 = db.one(sql("SELECT event_id FROM aicv_event_cursor WHERE id = 1")).await?;
    let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let rows: Vec<(i64, Option<String>, Option<String>)> = db.rows(sql(NEXT).bind((after, limit))).await?;
    let Some((up_to, ..)) = rows.last() else { return Ok(None) };
    let (up_to, events) = (*up_to, rows.len());
    let mut counts = BTreeMap::new();
    for (_, actor, kind) in rows {
        if let (Some(actor), Some(kind)) = (actor, kind) {
            *counts.entry((actor, kind)).or_default() += 1;
        }
    }
    Ok(Some(EventPage { after, up_to, events, counts }))
}

/// Counts the events of the page. Fails with [`HostErrorCode::Constraint`] when another gateway was faster, which takes back the
/// transaction.
pub async fn add(tx: &Tx, page: &EventPage) -> Result<(), HostError> {
    let rows: Vec<(&str, &str, i64)> =
        page.counts.iter().map(|((actor, kind), count)| (&**actor, &**kind, *count)).collect();
    let insert = |rows: &[(&str, &str, i64)]| {
        let insert = Sql::insert_rows("aicv_event_counts", "actor, type, event_count", rows.iter().copied());
        insert.map(|insert| {
            insert.push(
                " ON CONFLICT (actor, type) DO UPDATE SET event_count = aicv_event_counts.event_count + excluded.event_count",
            )
        })
    };
    let advance = "UPDATE aicv_event_cursor SET event_id = $2 WHERE id = 1 AND event_id = $1";
    let advance = sql(advance).bind((page.after, page.up_to));
    let results = tx.batch(rows.chunks(ROWS_MAX).filter_map(insert).chain([advance]).collect()).await?;
    if results.last().is_some_and(|advanced| advanced.changes == 1) {
        return Ok(());
    }
    Err(HostError::new(HostErrorCode::Constraint, "another gateway counts the events now"))
}

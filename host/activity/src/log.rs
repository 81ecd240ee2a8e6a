//! Rows of the log: how a commit adds them, and how readers get them.
//!
//! On SQLite a commit writes the log itself. On PostgreSQL, where commits overlap, it writes the outbox, from which one
//! sequencer appends to the log.

use super::{
    event::{CheckedEvent, RETRACTION_TYPE},
    outbox,
};
use abi_stable::std_types::{RString, Tuple2};
use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError, decode_rows};
use parking_lot::Mutex;
use plugin_api::{
    Sql,
    abi::{Cell, MalformedRows, NewEvent, Rows, Statement},
    manifest::{ActivityRecord, ActivityRow},
    sql,
};
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::{Notify, watch};

/// The view of the log that every plugin may read.
pub const VIEW: &str = "host_activity_v1";
/// The view of the log with the events that were retracted, for plugins that were granted it.
pub const VIEW_WITH_RETRACTED: &str = "host_activity_with_retracted_v1";
/// The view of the events that were retracted: id, actor and type.
pub const VIEW_OF_RETRACTED: &str = "host_activity_retracted_v1";

macro_rules! insert_into {
    ($table:literal) => {
        concat!("INSERT INTO ", $table, " (type, ts, actor, ref_kind, ref_id, data, unique_key)")
    };
}

/// In the order of the columns.
macro_rules! values {
    () => {
        " VALUES ($1, $2, $3, $4, $5, $6, $7)"
    };
}

/// An event whose unique key is in the log is not added again. In the outbox it may be there twice: the sequencer drops it.
macro_rules! if_new {
    () => {
        "ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING"
    };
}

/// Ids that one event names.
const RETRACTION_IDS_MAX: usize = 1000;

/// An event that is public.
#[derive(Clone, Debug, Deserialize)]
pub struct PublicEvent {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
}

/// Tells other gateways that the log has new rows. See [`Database::listen`].
pub const WAKE_CHANNEL: &str = "gateway_activity";

#[derive(Clone)]
pub struct ActivityLog {
    database: Database,
    wake: Arc<watch::Sender<u64>>,
    /// Somebody new waits for [`Self::wake`].
    subscribed: Arc<Notify>,
    written: Arc<Notify>,
    /// When a sequencer has last followed the writers.
    followed: Arc<Mutex<Option<Instant>>>,
    is_sequencing: Arc<AtomicBool>,
}

impl ActivityLog {
    /// How many rows one read returns at most.
    pub const PAGE_ROWS: u32 = 500;

    pub fn new(database: Database) -> Self {
        Self {
            database,
            wake: Arc::new(watch::Sender::new(0)),
            subscribed: Arc::default(),
            written: Arc::default(),
            followed: Arc::default(),
            is_sequencing: Arc::default(),
        }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// The statements at the end of a transaction that add `events` to the log.
    pub fn commit_statements(&self, events: Vec<CheckedEvent>, now_s: i64) -> Vec<CommitStatement> {
        events.into_iter().map(|event| self.insert(event, now_s)).map(CommitStatement::new).collect()
    }

    /// The statement that adds the rows which `select` returns, with the columns type, ts, actor, ref_kind, ref_id, data and
    /// unique_key.
    pub fn select_statement(&self, select: Sql) -> CommitStatement {
        let Statement { sql, params } = select.into();
        let text = match self.database.dialect() {
            Dialect::Sqlite => format!("{} {sql} {}", insert_into!("host_activity"), if_new!()),
            Dialect::Postgres => format!("{} {sql}", insert_into!("host_activity_outbox")),
        };
        CommitStatement::new(Statement { sql: RString::from(text).into(), params })
    }

    /// The statement that takes back events which are committed and have no position yet, by their unique keys, which `keys`
    /// returns. It comes before the one that looks for them among the public events. `None` where every event is public.
    pub fn withdrawal_statement(&self, keys: Sql) -> Option<Statement> {
        (self.database.dialect() == Dialect::Postgres).then(|| outbox::withdraw(keys))
    }

    /// The statements at the end of a transaction that retract events: they are left out of every list and replay, a new
    /// event names them, and one that comes again with the same unique key enters the log again.
    pub fn retraction_statements(&self, events: &[PublicEvent], now_s: i64) -> Vec<CommitStatement> {
        let retract = |event: &PublicEvent| {
            [
                sql("INSERT INTO host_activity_retracted (id, actor, type) \
                     SELECT id, actor, type FROM host_activity WHERE id = $1"),
                sql("UPDATE host_activity SET unique_key = NULL WHERE id = $1"),
            ]
            .map(|statement| statement.bind(event.id).into())
        };
        let announcements = events.chunks(RETRACTION_IDS_MAX).map(|events| self.announce_retraction(events, now_s));
        announcements.chain(events.iter().flat_map(retract)).map(CommitStatement::new).collect()
    }

    /// `types` lets a client with a filter by type hear of it.
    fn announce_retraction(&self, events: &[PublicEvent], now_s: i64) -> Statement {
        let ids: Vec<i64> = events.iter().map(|event| event.id).collect();
        let types: BTreeSet<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        let insert = match self.database.dialect() {
            Dialect::Sqlite => sql("INSERT INTO host_activity (type, ts, data) VALUES ($1, $2, $3)"),
            Dialect::Postgres => sql("INSERT INTO host_activity_outbox (type, ts, data) VALUES ($1, $2, $3)"),
        };
        insert.bind(RETRACTION_TYPE).bind(now_s).bind(json!({ "ids": ids, "types": types }).to_string()).into()
    }

    fn insert(&self, event: CheckedEvent, now_s: i64) -> Statement {
        let NewEvent { kind, actor, subject, data, ts, unique_key } = event.into_event();
        let (subject_kind, subject_id) = subject.into_option().map(|Tuple2(kind, id)| (kind, id)).unzip();
        let statement = match self.database.dialect() {
            Dialect::Sqlite => sql(concat!(insert_into!("host_activity"), values!(), " ", if_new!())),
            Dialect::Postgres => sql(concat!(insert_into!("host_activity_outbox"), values!())),
        };
        statement
            .bind(kind.into_owned().into_string())
            .bind(ts.unwrap_or(now_s))
            .bind(actor.into_option())
            .bind(subject_kind.map(RString::into_string))
            .bind(subject_id.map(RString::into_string))
            .bind(data.into_string())
            .bind(unique_key.into_option().map(RString::into_string))
            .into()
    }

    /// Tells that a transaction of this process has committed events. Never waits.
    pub fn notify_written(&self) {
        match self.database.dialect() {
            Dialect::Sqlite => self.wake(),
            Dialect::Postgres => self.written.notify_one(),
        }
    }

    /// Waits for [`Self::notify_written`], or returns at once when it was called since the last time.
    pub(crate) async fn wait_for_write(&self) {
        self.written.notified().await;
    }

    pub(crate) fn set_sequencing(&self, is_sequencing: bool) {
        self.is_sequencing.store(is_sequencing, Relaxed);
    }

    /// Whether this gateway gives events their positions, as far as it knows. Never on SQLite.
    pub fn is_sequencing(&self) -> bool {
        self.is_sequencing.load(Relaxed)
    }

    /// Notes that a sequencer, here or in another gateway, followed what was committed until now.
    pub(crate) fn note_followed(&self) {
        *self.followed.lock() = Some(Instant::now());
    }

    /// For how long no sequencer has followed the writers, as far as this gateway knows. Zero on SQLite.
    pub fn standstill(&self) -> Duration {
        self.followed.lock().map_or(Duration::ZERO, |followed| followed.elapsed())
    }

    /// Wakes every topic of this process, because there may be new rows.
    pub fn wake(&self) {
        self.wake.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub fn subscribe(&self) -> watch::Receiver<u64> {
        let receiver = self.wake.subscribe();
        self.subscribed.notify_waiters();
        receiver
    }

    /// Returns once somebody in this process waits for new rows.
    pub async fn wait_for_followers(&self) {
        loop {
            // Before the look: somebody may come between the two.
            let subscribed = self.subscribed.notified();
            if self.wake.receiver_count() > 0 {
                return;
            }
            subscribed.await;
        }
    }

    /// Returns once nobody does.
    pub async fn wait_for_no_followers(&self) {
        self.wake.closed().await;
    }

    /// The rows after that id in ascending order, at most [`Self::PAGE_ROWS`].
    pub async fn rows_after(&self, id: i64) -> Result<Vec<ActivityRow>, StorageError> {
        let page = self.page_after(id).await?.map(|page| page.rows);
        let records: Vec<ActivityRecord> = page.as_ref().map_or(Ok(Vec::new()), decode_rows)?;
        Ok(records.into_iter().map(ActivityRow::from).collect())
    }

    /// The same rows as the database gives them; `None` when there are none.
    pub(crate) async fn page_after(&self, id: i64) -> Result<Option<LogPage>, StorageError> {
        let statement = sql(SELECT_AFTER).bind(id).push_bind(" ORDER BY id LIMIT {}", Self::PAGE_ROWS);
        let rows = self.database.read(&Scope::Host, statement.into()).await?;
        LogPage::new(rows)
    }

    /// The first events of these types after that id, at most [`Self::PAGE_ROWS`], and the id up to which there are no others.
    pub async fn events_after(&self, id: i64, types: &[String]) -> Result<(Vec<ActivityRow>, i64), StorageError> {
        // Read first: ids become visible in order, so that up to here no event appears any more.
        let latest_id = self.latest_id().await?;
        let [first, rest @ ..] = types else { return Ok((Vec::new(), latest_id)) };
        let events = sql(SELECT_AFTER)
            .bind(id)
            .push_bind(" AND id <= {}", latest_id)
            .push_bind(" AND type IN ({}", first.as_str());
        let events = rest.iter().fold(events, |events, kind| events.push_bind(", {}", kind.as_str()));
        let records: Vec<ActivityRecord> =
            self.database.fetch_all(events.push_bind(") ORDER BY id LIMIT {}", Self::PAGE_ROWS)).await?;
        let rows: Vec<ActivityRow> = records.into_iter().map(ActivityRow::from).collect();
        let is_full = rows.len() >= Self::PAGE_ROWS as usize;
        let up_to = rows.last().filter(|_| is_full).map_or(latest_id, |last| last.id);
        Ok((rows, up_to))
    }

    /// The newest id; 0 for an empty log.
    pub async fn latest_id(&self) -> Result<i64, StorageError> {
        let rows = self.database.fetch_all(sql("SELECT coalesce(max(id), 0) FROM host_activity")).await?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    /// The id after which the newest `count` rows of these types (or prefixes that end in a dot; empty for all) come, of those
    /// later than `ts`; `None` when there are not more.
    pub(crate) async fn id_before_newest(
        &self,
        ts: i64,
        types: &[String],
        count: u32,
    ) -> Result<Option<i64>, StorageError> {
        let newer = sql("SELECT id FROM host_activity_v1 WHERE ts > $1").bind(ts);
        let statement =
            types.iter().fold(newer.push(if types.is_empty() { "" } else { " AND (1 = 0" }), |statement, kind| {
                // `LIKE` ignores case on SQLite, and a range depends on the locale on PostgreSQL.
                let is_prefix = kind.ends_with('.');
                let condition = if is_prefix { " OR substr(type, 1, length({})) = " } else { " OR type = {}" };
                let statement = statement.push_bind(condition, kind.as_str());
                if is_prefix { statement.push_bind("{}", kind.as_str()) } else { statement }
            });
        let statement = statement.push(if types.is_empty() { "" } else { ")" });
        let ids: Vec<i64> =
            self.database.fetch_all(statement.push_bind(" ORDER BY id DESC LIMIT 1 OFFSET {}", count)).await?;
        Ok(ids.into_iter().next())
    }

    /// The id after which every row later than `ts` comes.
    pub(crate) async fn id_before(&self, ts: i64) -> Result<Option<i64>, StorageError> {
        let rows: Vec<Option<i64>> =
            self.database.fetch_all(sql("SELECT min(id) FROM host_activity WHERE ts > $1").bind(ts)).await?;
        Ok(rows.into_iter().next().flatten().map(|id| id - 1))
    }

    /// The retracted events from that id on, in ascending order.
    pub(crate) async fn retracted_from(&self, id: i64) -> Result<Vec<i64>, StorageError> {
        self.database.fetch_all(sql("SELECT id FROM host_activity_retracted WHERE id >= $1 ORDER BY id").bind(id)).await
    }
}

/// Consecutive rows of the log: at least one.
pub struct LogPage {
    pub rows: Rows,
    pub last_id: i64,
}

impl LogPage {
    /// Whether one of its events retracts others.
    pub(crate) fn has_retraction(&self) -> Result<bool, StorageError> {
        let columns = self.rows.columns()?.len().max(1);
        let mut types = self.rows.cells()?.skip(1).step_by(columns);
        Ok(types.any(|cell| cell == Ok(Cell::Text(RETRACTION_TYPE))))
    }

    fn new(rows: Rows) -> Result<Option<Self>, StorageError> {
        let Some(last) = rows.row_count().checked_sub(1) else { return Ok(None) };
        let first_cell = last * rows.columns()?.len();
        let last_id = match rows.cells()?.nth(first_cell) {
            Some(Ok(Cell::Int(id))) => id,
            _ => return Err(MalformedRows.into()),
        };
        Ok(Some(Self { rows, last_id }))
    }
}

const SELECT_AFTER: &str = "SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity_v1 WHERE id > $1";

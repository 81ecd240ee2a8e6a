//! Rows of the log: how a commit adds them, and how readers get them.

use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError};
use plugin_api::{
    Sql,
    abi::{HostError, HostErrorCode, Statement},
    manifest::{ActivityRecord, ActivityRow, NewEvent},
    sql,
};
use std::sync::Arc;
use tokio::sync::watch;

/// The view of the log that every plugin may read.
pub const VIEW: &str = "host_activity_v1";

pub const MIGRATION: &str = "
CREATE TABLE host_activity (
    id {{id}},
    type TEXT NOT NULL,
    ts BIGINT NOT NULL,
    actor TEXT,
    ref_kind TEXT,
    ref_id TEXT,
    data TEXT NOT NULL,
    unique_key TEXT UNIQUE
);
CREATE INDEX host_activity_ts ON host_activity (ts);
CREATE INDEX host_activity_actor ON host_activity (actor, id);
CREATE INDEX host_activity_type ON host_activity (type, id);
CREATE VIEW host_activity_v1 AS SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity;
";

/// How many rows one read returns at most.
const PAGE_ROWS: u32 = 500;

/// Serialises the end of transactions that publish events, so that PostgreSQL assigns ids in the order of commits.
/// SQLite has one writer and needs no such lock.
const ORDER_LOCK: &str = "SELECT pg_advisory_xact_lock(4242001)";
const WAKE_REPLICAS: &str = "SELECT pg_notify('gateway_activity', '')";
/// The channel of [`WAKE_REPLICAS`].
pub const WAKE_CHANNEL: &str = "gateway_activity";

#[derive(Clone)]
pub struct ActivityLog {
    database: Database,
    wake: Arc<watch::Sender<u64>>,
}

impl ActivityLog {
    pub fn new(database: Database) -> Self {
        Self { database, wake: Arc::new(watch::Sender::new(0)) }
    }

    /// The statements at the end of a transaction that add `events` to the log.
    pub fn commit_statements(&self, events: &[NewEvent], now_s: i64) -> Result<Vec<CommitStatement>, HostError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let is_postgres = self.database.dialect() == Dialect::Postgres;
        let mut statements = Vec::with_capacity(events.len() + 2);
        if is_postgres {
            statements.push(CommitStatement::new(sql(ORDER_LOCK).into()));
        }
        for event in events {
            statements.push(CommitStatement::new(insert(event, now_s)?));
        }
        if is_postgres {
            statements.push(CommitStatement::new(sql(WAKE_REPLICAS).into()));
        }
        Ok(statements)
    }

    /// Wakes every topic of this process, because there may be new rows.
    pub fn wake(&self) {
        self.wake.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.wake.subscribe()
    }

    /// The rows after that id in ascending order, at most [`PAGE_ROWS`].
    pub async fn rows_after(&self, id: i64) -> Result<Vec<ActivityRow>, StorageError> {
        let statement = sql(
            "SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity WHERE id > $1 ORDER BY id LIMIT $2",
        );
        let rows: Vec<ActivityRecord> = self.read(statement.bind(id).bind(PAGE_ROWS)).await?;
        Ok(rows.into_iter().map(ActivityRow::from).collect())
    }

    /// The newest id; 0 for an empty log.
    pub async fn latest_id(&self) -> Result<i64, StorageError> {
        let rows = self.read(sql("SELECT coalesce(max(id), 0) FROM host_activity")).await?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    /// The id after which every row later than `ts` comes.
    pub async fn id_before(&self, ts: i64) -> Result<Option<i64>, StorageError> {
        let rows: Vec<Option<i64>> = self.read(sql("SELECT min(id) FROM host_activity WHERE ts > $1").bind(ts)).await?;
        Ok(rows.into_iter().next().flatten().map(|id| id - 1))
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, statement: Sql) -> Result<Vec<T>, StorageError> {
        let rows = self.database.read(&Scope::Host, statement.into()).await?;
        plugin_api::decode_rows(&rows).map_err(|error| StorageError::Internal(error.to_string()))
    }
}

fn insert(event: &NewEvent, now_s: i64) -> Result<Statement, HostError> {
    check(event)?;
    let (kind, id) = event.subject.as_ref().map(|subject| (subject.kind.as_str(), subject.id.as_str())).unzip();
    let statement = sql("INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data, unique_key) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (unique_key) DO NOTHING");
    Ok(statement
        .bind(event.kind.as_str())
        .bind(event.ts.unwrap_or(now_s))
        .bind(event.actor.as_deref())
        .bind(kind)
        .bind(id)
        .bind(event.data.to_string())
        .bind(event.unique_key.as_deref())
        .into())
}

/// The data goes to every reader of a stream, and stays in memory while the frame is in the ring.
const DATA_BYTES_MAX: usize = 64 * 1024;

/// The type of an event becomes an SSE line, and its data JSON: a plugin's mistake must not corrupt a stream.
pub fn check(event: &NewEvent) -> Result<(), HostError> {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
    if event.kind.is_empty() || event.kind.len() > 64 || !event.kind.bytes().all(is_name) {
        let message = format!("{:?} is no event type: lower-case letters, digits, dots, at most 64", event.kind);
        return Err(HostError::new(HostErrorCode::Invalid, message));
    }
    if !event.data.is_object() {
        return Err(HostError::new(HostErrorCode::Invalid, "the data of an event is an object"));
    }
    let bytes = event.data.to_string().len();
    if bytes > DATA_BYTES_MAX {
        let message = format!("the data of an event has {bytes} bytes, at most {DATA_BYTES_MAX} go to every reader");
        return Err(HostError::new(HostErrorCode::Invalid, message));
    }
    Ok(())
}

//! The state of an index in the database: its cursor, the blocks before it, and which gateway holds the lease.
//!
//! The rule: the cursor moves in the transaction that writes the rows, and only from the value that the gateway read.
//! So no event is applied twice, even when two gateways believe that they hold the lease.

use abi_stable::std_types::{RString, Tuple2};
use alloy_primitives::B256;
use gateway_activity::CheckedEvent;
use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError};
use plugin_api::{
    Sql,
    abi::{NewEvent, Statement},
    sql,
};
use serde::{Deserialize, de::DeserializeOwned};

/// An event that a handler published, with the position of its log in the chain.
pub struct PublishedEvent {
    pub block: u64,
    pub log_index: u64,
    pub event: CheckedEvent,
}

/// In place of a block number, for writes that need no before-image.
pub const NO_JOURNAL: i64 = -1;

#[derive(Clone)]
pub struct IndexStore {
    database: Database,
    pub(super) plugin: String,
}

/// How far an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The next block to index.
    pub next_block: u64,
    /// Hash of the block before; `None` before the first.
    pub hash: Option<B256>,
}

/// The row of an index in `host_chain_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRow {
    pub cursor: Cursor,
    /// What the rows were derived with, see [`fingerprint`](super::fingerprint::fingerprint).
    pub fingerprint: String,
    pub start_block: u64,
    /// Why the index is stopped.
    pub stopped: Option<String>,
    /// The gateway with the lease.
    pub holder: Option<String>,
}

/// The columns of the row.
#[derive(Deserialize)]
struct IndexColumns {
    shape: String,
    start_block: i64,
    next_block: i64,
    hash: String,
    stopped: Option<String>,
    holder: Option<String>,
}

/// One change of a derived row.
#[derive(Clone, Debug, Deserialize)]
pub struct JournalRow {
    pub tab: String,
    pub before_row: Option<String>,
    pub after_row: Option<String>,
}

impl IndexStore {
    pub fn new(database: Database, plugin: &str) -> Self {
        Self { database, plugin: plugin.to_owned() }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    pub(super) async fn read<T: DeserializeOwned>(&self, statement: Sql) -> Result<Vec<T>, StorageError> {
        let rows = self.database.read(&Scope::Host, statement.into()).await?;
        plugin_api::host::decode_rows(&rows).map_err(|error| StorageError::Internal(error.to_string()))
    }

    pub(super) async fn load(&self) -> Result<Option<IndexRow>, StorageError> {
        let statement = sql("SELECT shape, start_block, next_block, hash, stopped, holder FROM host_chain_index \
             WHERE plugin = $1")
        .bind(&self.plugin);
        let row = self.read::<IndexColumns>(statement).await?.into_iter().next();
        Ok(row.map(|row| IndexRow {
            cursor: Cursor { next_block: to_u64(row.next_block), hash: row.hash.parse().ok() },
            fingerprint: row.shape,
            start_block: to_u64(row.start_block),
            stopped: row.stopped,
            holder: row.holder,
        }))
    }

    /// Takes or renews the lease until `until_ms`; `false` while another gateway holds it. On SQLite there is only one
    /// gateway, so an earlier holder is gone. Inserts the row of a new index with an empty fingerprint, which matches
    /// no plugin, so that the index starts with a reset.
    pub(super) async fn acquire_lease(&self, holder: &str, now_ms: i64, until_ms: i64) -> Result<bool, StorageError> {
        let is_free = match self.dialect() {
            Dialect::Sqlite => "$4 = $4",
            Dialect::Postgres => "existing.holder IS NULL OR existing.holder = $2 OR existing.lease_until_ms < $4",
        };
        let text = format!(
            "INSERT INTO host_chain_index AS existing (plugin, shape, start_block, next_block, hash, holder, lease_until_ms) \
             VALUES ($1, '', 0, 0, '', $2, $3) ON CONFLICT (plugin) DO UPDATE \
             SET holder = excluded.holder, lease_until_ms = excluded.lease_until_ms WHERE {is_free}"
        );
        let statement = sql(text).bind(&self.plugin).bind(holder).bind(until_ms).bind(now_ms);
        Ok(self.execute(statement).await? == 1)
    }

    pub(super) async fn release_lease(&self, holder: &str) -> Result<(), StorageError> {
        let statement = sql("UPDATE host_chain_index SET holder = NULL WHERE plugin = $1 AND holder = $2");
        self.execute(statement.bind(&self.plugin).bind(holder)).await.map(drop)
    }

    /// Stops the index until an operator requests a reindex.
    pub(super) async fn stop(&self, reason: &str) -> Result<(), StorageError> {
        let statement = sql("UPDATE host_chain_index SET stopped = $2 WHERE plugin = $1");
        self.execute(statement.bind(&self.plugin).bind(reason)).await.map(drop)
    }

    /// Makes the gateway with the lease derive all rows again. `false` when there is no such index.
    pub async fn request_reindex(&self) -> Result<bool, StorageError> {
        let statement = sql("UPDATE host_chain_index SET shape = '', stopped = NULL WHERE plugin = $1");
        Ok(self.execute(statement.bind(&self.plugin)).await? == 1)
    }

    /// The blocks whose events can still be undone, newest first.
    pub(super) async fn recent_blocks(&self) -> Result<Vec<(u64, B256)>, StorageError> {
        let statement = sql("SELECT block, hash FROM host_chain_blocks WHERE plugin = $1 ORDER BY block DESC");
        let rows: Vec<(i64, String)> = self.read(statement.bind(&self.plugin)).await?;
        Ok(rows.into_iter().filter_map(|(block, hash)| Some((to_u64(block), hash.parse().ok()?))).collect())
    }

    /// The last statement of every transaction of an index: returns a row only when the cursor in the database is
    /// `from`.
    pub(super) fn advance(&self, from: &IndexRow, to: &Cursor) -> CommitStatement {
        let statement = sql("UPDATE host_chain_index SET next_block = $2, hash = $3 \
             WHERE plugin = $1 AND next_block = $4 AND hash = $5 AND shape = $6 AND stopped IS NULL RETURNING 1");
        let statement = statement.bind(&self.plugin).bind(to_i64(to.next_block)).bind(hash_text(to));
        CommitStatement::expecting_row(
            statement.bind(to_i64(from.cursor.next_block)).bind(hash_text(&from.cursor)).bind(&from.fingerprint).into(),
        )
    }

    /// The same for a reset: sets a new fingerprint, and the cursor to the first block.
    pub(super) fn restart(&self, from: &IndexRow, fingerprint: &str, start_block: u64) -> CommitStatement {
        let statement = sql("UPDATE host_chain_index SET shape = $2, start_block = $3, next_block = $3, hash = '', \
             stopped = NULL WHERE plugin = $1 AND shape = $4 AND next_block = $5 RETURNING 1");
        let statement = statement.bind(&self.plugin).bind(fingerprint).bind(to_i64(start_block));
        CommitStatement::expecting_row(statement.bind(&from.fingerprint).bind(to_i64(from.cursor.next_block)).into())
    }

    /// Lets the index start with a reset from now on, also after a restart of the gateway.
    pub(super) fn begin_reset(&self, row: &IndexRow) -> CommitStatement {
        let statement = sql("UPDATE host_chain_index SET shape = '' \
             WHERE plugin = $1 AND shape = $2 AND next_block = $3 RETURNING 1");
        let statement = statement.bind(&self.plugin).bind(&row.fingerprint).bind(to_i64(row.cursor.next_block));
        CommitStatement::expecting_row(statement.into())
    }

    /// Lets this transaction write derived tables, and names the block in the journal to which its changes belong.
    pub(super) fn allow_writes(&self, block: i64) -> Statement {
        sql("INSERT INTO host_chain_turn (plugin, block) VALUES ($1, $2) \
             ON CONFLICT (plugin) DO UPDATE SET block = excluded.block")
        .bind(&self.plugin)
        .bind(block)
        .into()
    }

    /// Ends [`Self::allow_writes`].
    pub(super) fn forbid_writes(&self) -> Statement {
        sql("DELETE FROM host_chain_turn WHERE plugin = $1").bind(&self.plugin).into()
    }

    pub(super) fn insert_block(&self, block: u64, hash: B256) -> Statement {
        sql("INSERT INTO host_chain_blocks (plugin, block, hash) VALUES ($1, $2, $3) \
             ON CONFLICT (plugin, block) DO UPDATE SET hash = excluded.hash")
        .bind(&self.plugin)
        .bind(to_i64(block))
        .bind(hash.to_string())
        .into()
    }

    /// Adds an event that the publisher makes public.
    pub(super) fn insert_event(&self, published: PublishedEvent, is_final: bool) -> Statement {
        let PublishedEvent { block, log_index, event } = published;
        let NewEvent { kind, actor, subject, data, ts, unique_key } = event.into_event();
        let (subject_kind, subject_id) = subject.into_option().map(|Tuple2(kind, id)| (kind, id)).unzip();
        sql("INSERT INTO host_chain_events (plugin, block, log_index, type, ts, actor, ref_kind, ref_id, data, unique_key, \
             is_final, is_public) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)")
        .bind(&self.plugin)
        .bind(to_i64(block))
        .bind(to_i64(log_index))
        .bind(kind.into_owned().into_string())
        .bind(ts.into_option())
        .bind(actor.into_option())
        .bind(subject_kind.map(RString::into_string))
        .bind(subject_id.map(RString::into_string))
        .bind(data.into_string())
        .bind(unique_key.into_option().map(RString::into_string))
        .bind(i64::from(is_final))
        .into()
    }

    /// The public events after this block, in their order.
    pub(super) fn select_public_events_after(&self, block: i64) -> Statement {
        sql("SELECT a.id, a.type FROM host_activity a WHERE a.unique_key IN \
             (SELECT unique_key FROM host_chain_events WHERE plugin = $1 AND block > $2 AND is_public = 1) ORDER BY a.id")
        .bind(&self.plugin)
        .bind(block)
        .into()
    }

    /// Tells the publisher, with a lock until the end of the transaction, that the index undoes everything after this block.
    pub(super) fn rewind_publisher(&self, from: &IndexRow, block: i64) -> Statement {
        // An index that is far behind the publisher does not hold it back.
        sql("UPDATE host_chain_publisher SET version = version + 1, \
             block = CASE WHEN block > $1 AND block <= $2 THEN $1 ELSE block END")
        .bind(block.max(0))
        .bind(to_i64(from.cursor.next_block))
        .into()
    }

    /// Deletes what is needed only for undoing the block `last_final` and those before it.
    pub(super) fn prune(&self, last_final: u64) -> [Statement; 3] {
        [
            sql("DELETE FROM host_chain_journal WHERE plugin = $1 AND block <= $2"),
            sql("DELETE FROM host_chain_blocks WHERE plugin = $1 AND block < $2"),
            sql("DELETE FROM host_chain_events WHERE plugin = $1 AND block <= $2 AND is_public = 1"),
        ]
        .map(|statement| statement.bind(&self.plugin).bind(to_i64(last_final)).into())
    }

    /// Every change after this block, newest first.
    pub(super) fn select_journal_after(&self, block: i64) -> Statement {
        sql("SELECT tab, before_row, after_row FROM host_chain_journal WHERE plugin = $1 AND block > $2 ORDER BY id DESC")
            .bind(&self.plugin)
            .bind(block)
            .into()
    }

    /// Deletes everything after this block except the derived rows.
    pub(super) fn delete_after(&self, block: i64) -> [Statement; 3] {
        [
            sql("DELETE FROM host_chain_journal WHERE plugin = $1 AND block > $2"),
            sql("DELETE FROM host_chain_blocks WHERE plugin = $1 AND block > $2"),
            sql("DELETE FROM host_chain_events WHERE plugin = $1 AND block > $2"),
        ]
        .map(|statement| statement.bind(&self.plugin).bind(block).into())
    }

    async fn execute(&self, statement: Sql) -> Result<u64, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let outcomes = transaction.commit(vec![CommitStatement::new(statement.into())]).await?;
        Ok(outcomes.iter().map(|outcome| outcome.changes).sum())
    }
}

fn hash_text(cursor: &Cursor) -> String {
    cursor.hash.map(|hash| hash.to_string()).unwrap_or_default()
}

/// Block numbers are far below 2^63.
pub fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

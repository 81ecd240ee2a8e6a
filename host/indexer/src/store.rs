//! The state of an index in the database: its cursor, the blocks before it, and which gateway holds the lease.
//!
//! The rule: the cursor moves in the transaction that writes the rows, and only from the value that the gateway read.
//! So no event is applied twice, even when two gateways believe that they hold the lease.

use abi_stable::std_types::{RString, Tuple2};
use alloy_primitives::B256;
use gateway_activity::CheckedEvent;
use gateway_storage::{CommitStatement, Database, Dialect, StorageError};
use plugin_api::{
    Sql,
    abi::{NewEvent, Statement},
    sql,
};
use serde::Deserialize;
use std::borrow::Cow;

/// An event that a handler published, with the position of its log in the chain.
pub(crate) struct PublishedEvent {
    pub block: u64,
    pub log_index: u64,
    pub event: CheckedEvent,
}

/// In place of a block number, for writes that need no before-image.
pub(crate) const NO_JOURNAL: i64 = -1;

/// Of one plugin on one chain.
#[derive(Clone)]
pub struct IndexStore {
    pub(super) database: Database,
    pub(super) plugin: String,
    pub(super) chain: String,
}

/// How far an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The next block to index.
    pub next_block: u64,
    /// Hash of the block before; `None` before the first.
    pub hash: Option<B256>,
}

/// The row of an index in `host_chain_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexRow {
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
pub(crate) struct JournalRow {
    pub tab: String,
    pub before_row: Option<String>,
    pub after_row: Option<String>,
}

impl IndexStore {
    pub fn new(database: Database, plugin: &str, chain: &str) -> Self {
        Self { database, plugin: plugin.to_owned(), chain: chain.to_owned() }
    }

    /// Makes the gateways with the leases derive all rows of the plugin again, on every chain. `false` when it has no index.
    pub async fn request_reindex(database: &Database, plugin: &str) -> Result<bool, StorageError> {
        let statement = sql("UPDATE host_chain_index SET shape = '', stopped = NULL WHERE plugin = $1").bind(plugin);
        Ok(database.execute(statement).await?.changes > 0)
    }

    /// A statement about this index: `$1` is the plugin, `$2` the chain.
    fn statement(&self, text: impl Into<Cow<'static, str>>) -> Sql {
        sql(text).bind(&self.plugin).bind(&self.chain)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    pub(super) async fn load(&self) -> Result<Option<IndexRow>, StorageError> {
        let statement = self.statement(
            "SELECT shape, start_block, next_block, hash, stopped, holder FROM host_chain_index \
             WHERE plugin = $1 AND chain = $2",
        );
        let row: Option<IndexColumns> = self.database.fetch_all(statement).await?.into_iter().next();
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
    pub(super) async fn acquire_lease(&self, now_ms: i64, until_ms: i64) -> Result<bool, StorageError> {
        let is_free = match self.dialect() {
            Dialect::Sqlite => "$5 = $5",
            Dialect::Postgres => "existing.holder IS NULL OR existing.holder = $3 OR existing.lease_until_ms < $5",
        };
        let text = format!(
            "INSERT INTO host_chain_index AS existing \
             (plugin, chain, shape, start_block, next_block, hash, holder, lease_until_ms) \
             VALUES ($1, $2, '', 0, 0, '', $3, $4) ON CONFLICT (plugin, chain) DO UPDATE \
             SET holder = excluded.holder, lease_until_ms = excluded.lease_until_ms WHERE {is_free}"
        );
        let statement = self.statement(text).bind(self.database.instance_id()).bind(until_ms).bind(now_ms);
        Ok(self.database.execute(statement).await?.changes == 1)
    }

    pub(super) async fn release_lease(&self) -> Result<(), StorageError> {
        let text = "UPDATE host_chain_index SET holder = NULL WHERE plugin = $1 AND chain = $2 AND holder = $3";
        self.database.execute(self.statement(text).bind(self.database.instance_id())).await.map(drop)
    }

    /// Stops the index until an operator requests a reindex.
    pub(super) async fn stop(&self, reason: &str) -> Result<(), StorageError> {
        let text = "UPDATE host_chain_index SET stopped = $3 WHERE plugin = $1 AND chain = $2";
        self.database.execute(self.statement(text).bind(reason)).await.map(drop)
    }

    /// The blocks whose events can still be undone, newest first.
    pub(super) async fn recent_blocks(&self) -> Result<Vec<(u64, B256)>, StorageError> {
        let text = "SELECT block, hash FROM host_chain_blocks WHERE plugin = $1 AND chain = $2 ORDER BY block DESC";
        let rows: Vec<(i64, String)> = self.database.fetch_all(self.statement(text)).await?;
        Ok(rows.into_iter().filter_map(|(block, hash)| Some((to_u64(block), hash.parse().ok()?))).collect())
    }

    /// The last statement of every transaction of an index: returns a row only when the cursor in the database is
    /// `from`.
    pub(super) fn advance(&self, from: &IndexRow, to: &Cursor) -> CommitStatement {
        let text = "UPDATE host_chain_index SET next_block = $3, hash = $4 WHERE plugin = $1 AND chain = $2 \
             AND next_block = $5 AND hash = $6 AND shape = $7 AND stopped IS NULL RETURNING 1";
        let statement = self.statement(text).bind(to_i64(to.next_block)).bind(hash_text(to));
        CommitStatement::expecting_row(
            statement.bind(to_i64(from.cursor.next_block)).bind(hash_text(&from.cursor)).bind(&from.fingerprint).into(),
        )
    }

    /// The same for a reset: sets a new fingerprint, and the cursor to the first block.
    pub(super) fn restart(&self, from: &IndexRow, fingerprint: &str, start_block: u64) -> CommitStatement {
        let text = "UPDATE host_chain_index SET shape = $3, start_block = $4, next_block = $4, hash = '', \
             stopped = NULL WHERE plugin = $1 AND chain = $2 AND shape = $5 AND next_block = $6 RETURNING 1";
        let statement = self.statement(text).bind(fingerprint).bind(to_i64(start_block));
        CommitStatement::expecting_row(statement.bind(&from.fingerprint).bind(to_i64(from.cursor.next_block)).into())
    }

    /// Lets the index start with a reset from now on, also after a restart of the gateway.
    pub(super) fn begin_reset(&self, row: &IndexRow) -> CommitStatement {
        let text = "UPDATE host_chain_index SET shape = '' \
             WHERE plugin = $1 AND chain = $2 AND shape = $3 AND next_block = $4 RETURNING 1";
        let statement = self.statement(text).bind(&row.fingerprint).bind(to_i64(row.cursor.next_block));
        CommitStatement::expecting_row(statement.into())
    }

    /// Lets this transaction write derived tables, and names the block in the journal to which its changes belong.
    pub(super) fn allow_writes(&self, block: i64) -> Statement {
        self.statement(
            "INSERT INTO host_chain_turn (plugin, chain, block) VALUES ($1, $2, $3) \
             ON CONFLICT (plugin, chain) DO UPDATE SET block = excluded.block",
        )
        .bind(block)
        .into()
    }

    /// Ends [`Self::allow_writes`].
    pub(super) fn forbid_writes(&self) -> Statement {
        self.statement("DELETE FROM host_chain_turn WHERE plugin = $1 AND chain = $2").into()
    }

    pub(super) fn insert_block(&self, block: u64, hash: B256) -> Statement {
        self.statement(
            "INSERT INTO host_chain_blocks (plugin, chain, block, hash) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (plugin, chain, block) DO UPDATE SET hash = excluded.hash",
        )
        .bind(to_i64(block))
        .bind(hash.to_string())
        .into()
    }

    /// Adds an event that the publisher makes public.
    pub(super) fn insert_event(&self, published: PublishedEvent, is_final: bool) -> Statement {
        let PublishedEvent { block, log_index, event } = published;
        let NewEvent { kind, actor, subject, data, ts, unique_key } = event.into_event();
        let (subject_kind, subject_id) = subject.into_option().map(|Tuple2(kind, id)| (kind, id)).unzip();
        self.statement(
            "INSERT INTO host_chain_events (plugin, chain, block, log_index, type, ts, actor, ref_kind, ref_id, data, \
             unique_key, is_final, is_public) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0)",
        )
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

    /// Unique keys of the events after this block that the publisher has handed over to the log.
    pub(super) fn public_keys_after(&self, block: i64) -> Sql {
        let text = "SELECT unique_key FROM host_chain_events \
             WHERE plugin = $1 AND chain = $2 AND block > $3 AND is_public = 1";
        self.statement(text).bind(block)
    }

    /// The public events after this block, in their order.
    pub(super) fn select_public_events_after(&self, block: i64) -> Statement {
        sql("SELECT a.id, a.type FROM host_activity a WHERE a.unique_key IN (")
            .push_sql(self.public_keys_after(block))
            .push(") ORDER BY a.id")
            .into()
    }

    /// Tells the publisher, with a lock until the end of the transaction, that the index undoes everything after this block.
    pub(super) fn rewind_publisher(&self, from: &IndexRow, block: i64) -> Statement {
        // An index that is far behind the publisher does not hold it back.
        sql("UPDATE host_chain_publisher SET version = version + 1, \
             block = CASE WHEN block > $1 AND block <= $2 THEN $1 ELSE block END WHERE chain = $3")
        .bind(block.max(0))
        .bind(to_i64(from.cursor.next_block))
        .bind(&self.chain)
        .into()
    }

    /// Deletes what is needed only for undoing the block `last_final` and those before it.
    pub(super) fn prune(&self, last_final: u64) -> [Statement; 3] {
        [
            "DELETE FROM host_chain_journal WHERE plugin = $1 AND chain = $2 AND block <= $3",
            "DELETE FROM host_chain_blocks WHERE plugin = $1 AND chain = $2 AND block < $3",
            "DELETE FROM host_chain_events WHERE plugin = $1 AND chain = $2 AND block <= $3 AND is_public = 1",
        ]
        .map(|text| self.statement(text).bind(to_i64(last_final)).into())
    }

    /// Every change after this block, newest first.
    pub(super) fn select_journal_after(&self, block: i64) -> Statement {
        self.statement(
            "SELECT tab, before_row, after_row FROM host_chain_journal \
             WHERE plugin = $1 AND chain = $2 AND block > $3 ORDER BY id DESC",
        )
        .bind(block)
        .into()
    }

    /// Deletes everything after this block except the derived rows.
    pub(super) fn delete_after(&self, block: i64) -> [Statement; 3] {
        [
            "DELETE FROM host_chain_journal WHERE plugin = $1 AND chain = $2 AND block > $3",
            "DELETE FROM host_chain_blocks WHERE plugin = $1 AND chain = $2 AND block > $3",
            "DELETE FROM host_chain_events WHERE plugin = $1 AND chain = $2 AND block > $3",
        ]
        .map(|text| self.statement(text).bind(block).into())
    }
}

fn hash_text(cursor: &Cursor) -> String {
    cursor.hash.map(|hash| hash.to_string()).unwrap_or_default()
}

/// Block numbers are far below 2^63.
pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

//! The state of an index in the database: its cursor, the blocks before it, and which gateway holds the lease.
//!
//! The rule: the cursor moves in the transaction that writes the rows, and only from the value that the gateway read.
//! So no event is applied twice, even when two gateways believe that they hold the lease.

use super::events_ahead::EventsAhead;
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

/// An event that a handler emitted and that is not public yet, with the position of its log in the chain.
pub(crate) struct EmittedEvent {
    pub block: u64,
    pub log_index: u64,
    pub event: CheckedEvent,
}

impl EmittedEvent {
    pub(crate) fn unique_key(&self) -> Option<&str> {
        self.event.as_event().unique_key.as_ref().map(RString::as_str).into()
    }
}

/// In place of the block to which writes belong: they leave nothing in the undo log.
pub(crate) const NO_UNDO: i64 = -1;
/// What is after this block is everything.
pub(crate) const BEFORE_FIRST_BLOCK: i64 = -1;

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

/// How long a gateway that died keeps the others from its indexes.
const LEASE_MS: i64 = 20_000;

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
    pub events_ahead: EventsAhead,
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
    has_events_ahead: bool,
}

/// One change of a derived row, in the undo log, whose table is `host_chain_journal`: names of tables stay.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct UndoRow {
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
            "SELECT shape, start_block, next_block, hash, stopped, holder, EXISTS (SELECT 1 FROM host_chain_events \
             WHERE plugin = $1 AND chain = $2 AND block >= host_chain_index.next_block AND is_public = 1) AS has_events_ahead \
             FROM host_chain_index WHERE plugin = $1 AND chain = $2",
        );
        let rows: Vec<IndexColumns> = self.database.fetch_all(statement).await?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        let events_ahead =
            if row.has_events_ahead { self.load_events_ahead(row.next_block).await? } else { EventsAhead::default() };
        Ok(Some(IndexRow {
            cursor: Cursor { next_block: to_u64(row.next_block), hash: row.hash.parse().ok() },
            fingerprint: row.shape,
            start_block: to_u64(row.start_block),
            stopped: row.stopped,
            holder: row.holder,
            events_ahead,
        }))
    }

    async fn load_events_ahead(&self, next_block: i64) -> Result<EventsAhead, StorageError> {
        let text = "SELECT unique_key, min(block) FROM host_chain_events \
             WHERE plugin = $1 AND chain = $2 AND block >= $3 AND is_public = 1 GROUP BY unique_key";
        let rows: Vec<(String, i64)> = self.database.fetch_all(self.statement(text).bind(next_block)).await?;
        Ok(EventsAhead::new(rows.into_iter().map(|(key, block)| (key, to_u64(block)))))
    }

    /// Takes or renews the lease; `false` while another gateway holds it. Inserts the row of a new index with an empty fingerprint, which
    /// matches no plugin, so that the index starts with a reset.
    pub(super) async fn acquire_lease(&self) -> Result<bool, StorageError> {
        let (now_ms, may_take_lease) = (self.dialect().now_ms(), self.dialect().may_take_lease("existing"));
        let text = format!(
            "INSERT INTO host_chain_index AS existing \
             (plugin, chain, shape, start_block, next_block, hash, holder, lease_until_ms) \
             VALUES ($1, $2, '', 0, 0, '', $3, {now_ms} + $4) ON CONFLICT (plugin, chain) DO UPDATE \
             SET holder = excluded.holder, lease_until_ms = excluded.lease_until_ms WHERE {may_take_lease}"
        );
        let statement = self.statement(text).bind(self.database.instance_id()).bind(LEASE_MS);
        Ok(self.database.execute(statement).await?.changes == 1)
    }

    pub(super) async fn release_lease(&self) -> Result<(), StorageError> {
        let text = "UPDATE host_chain_index SET holder = NULL WHERE plugin = $1 AND chain = $2 AND holder = $3";
        self.database.execute(self.statement(text).bind(self.database.instance_id())).await.map(drop)
    }

    /// Stops the index until an operator requests a reindex; `false` when this gateway does not hold the lease any more, or the row is
    /// not the one that it read: then the reason is about what is there no longer.
    pub(super) async fn stop(&self, row: &IndexRow, reason: &str) -> Result<bool, StorageError> {
        let text = "UPDATE host_chain_index SET stopped = $3 WHERE plugin = $1 AND chain = $2 AND next_block = $4 AND hash = $5 \
             AND shape = $6 AND holder = $7 AND stopped IS NULL";
        let statement =
            self.statement(text).bind(reason).bind(to_i64(row.cursor.next_block)).bind(hash_text(&row.cursor));
        let statement = statement.bind(&row.fingerprint).bind(self.database.instance_id());
        Ok(self.database.execute(statement).await?.changes == 1)
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

    /// The same for a reset: sets the cursor to the first block, and a fingerprint. With an empty one, which matches no plugin, the
    /// reset goes on, also after a restart of the gateway. The cursor moves with the first row that is deleted: until it does,
    /// plugins read the rows as those of its block.
    pub(super) fn restart(&self, from: &IndexRow, fingerprint: &str, start_block: u64) -> CommitStatement {
        let text = "UPDATE host_chain_index SET shape = $3, start_block = $4, next_block = $4, hash = '', stopped = NULL \
             WHERE plugin = $1 AND chain = $2 AND shape = $5 AND next_block = $6 AND hash = $7 RETURNING 1";
        let statement = self.statement(text).bind(fingerprint).bind(to_i64(start_block)).bind(&from.fingerprint);
        let statement = statement.bind(to_i64(from.cursor.next_block)).bind(hash_text(&from.cursor));
        CommitStatement::expecting_row(statement.into())
    }

    /// Lets this transaction write derived tables, and names the block in the undo log to which its changes belong.
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

    /// Adds an event, which the publisher makes public unless it is.
    pub(super) fn insert_event(&self, emitted: EmittedEvent, is_final: bool, is_public: bool) -> Statement {
        let EmittedEvent { block, log_index, event } = emitted;
        let NewEvent { kind, actor, subject, data, ts, unique_key } = event.into_event();
        let (subject_kind, subject_id) = subject.into_option().map(|Tuple2(kind, id)| (kind, id)).unzip();
        self.statement(
            "INSERT INTO host_chain_events (plugin, chain, block, log_index, type, ts, actor, ref_kind, ref_id, data, \
             unique_key, is_final, is_public) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
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
        .bind(i64::from(is_public))
        .into()
    }

    /// Unique keys of the events after this block that the publisher has handed over to the log.
    pub(super) fn public_keys_after(&self, block: i64) -> Sql {
        let text = "SELECT unique_key FROM host_chain_events \
             WHERE plugin = $1 AND chain = $2 AND block > $3 AND is_public = 1";
        self.statement(text).bind(block)
    }

    /// The same up to the block `last`.
    pub(super) fn public_keys_between(&self, after: i64, last: i64) -> Sql {
        self.public_keys_after(after).push_bind(" AND block <= {}", last)
    }

    /// The public events with these unique keys, in their order.
    pub(super) fn select_public_events(&self, keys: Sql) -> Statement {
        sql("SELECT a.id, a.type FROM host_activity a WHERE a.unique_key IN (")
            .push_sql(keys)
            .push(") ORDER BY a.id")
            .into()
    }

    /// Forgets that these events after this block are public.
    pub(super) fn delete_public_events(&self, after: i64, keys: &[&String]) -> Statement {
        self.delete_public_after(after).push(" AND unique_key").push_in(keys.iter().map(|key| key.as_str())).into()
    }

    /// The same of the events whose unique keys the statement returns.
    pub(super) fn delete_public_events_of(&self, after: i64, keys: Sql) -> Statement {
        self.delete_public_after(after).push(" AND unique_key IN (").push_sql(keys).push(")").into()
    }

    fn delete_public_after(&self, block: i64) -> Sql {
        let text = "DELETE FROM host_chain_events WHERE plugin = $1 AND chain = $2 AND block > $3 AND is_public = 1";
        self.statement(text).bind(block)
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
    pub(super) fn select_undo_log_after(&self, block: i64) -> Statement {
        self.statement(
            "SELECT tab, before_row, after_row FROM host_chain_journal \
             WHERE plugin = $1 AND chain = $2 AND block > $3 ORDER BY id DESC",
        )
        .bind(block)
        .into()
    }

    /// Deletes everything after this block except the derived rows and the events, of which [`Self::delete_events_after`] deletes
    /// some or all.
    pub(super) fn delete_after(&self, block: i64) -> [Statement; 2] {
        [
            "DELETE FROM host_chain_journal WHERE plugin = $1 AND chain = $2 AND block > $3",
            "DELETE FROM host_chain_blocks WHERE plugin = $1 AND chain = $2 AND block > $3",
        ]
        .map(|text| self.statement(text).bind(block).into())
    }

    pub(super) fn delete_events_after(&self, block: i64, keeps_public: bool) -> Statement {
        let text = "DELETE FROM host_chain_events WHERE plugin = $1 AND chain = $2 AND block > $3";
        self.statement(text).bind(block).push(if keeps_public { " AND is_public = 0" } else { "" }).into()
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{chains_migration, events_migration, migration};
    use gateway_storage::{DatabaseSettings, MigrationSet, Scope};

    async fn store() -> (tempfile::TempDir, IndexStore) {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("gateway.db").display());
        let database = Database::open(DatabaseSettings::new(url)).await.unwrap();
        let migrations = [migration(1), events_migration(2), chains_migration(3)];
        database.migrate(&MigrationSet { scope: &Scope::Host, views: &[], migrations: &migrations }).await.unwrap();
        (directory, IndexStore::new(database, "ledger", "main"))
    }

    /// The row of an index at block 7, of which this gateway holds the lease.
    async fn held(store: &IndexStore) -> IndexRow {
        store.database.execute(sql("DELETE FROM host_chain_index")).await.unwrap();
        assert!(store.acquire_lease().await.unwrap());
        store.database.execute(sql("UPDATE host_chain_index SET shape = 'rows', next_block = 7")).await.unwrap();
        store.load().await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn only_the_index_that_the_gateway_read_and_holds_is_stopped() {
        let (_directory, store) = store().await;
        let row = held(&store).await;
        assert!(store.stop(&row, "too deep").await.unwrap());
        assert_eq!(store.load().await.unwrap().unwrap().stopped.as_deref(), Some("too deep"));
        IndexStore::request_reindex(&store.database, "ledger").await.unwrap();
        assert!(!store.stop(&row, "too deep").await.unwrap(), "an operator has requested a reindex");
        assert_eq!(store.load().await.unwrap().unwrap().stopped, None);
        for change in ["holder = 'another'", "holder = NULL", "next_block = 8", "hash = '0x07'"] {
            let row = held(&store).await;
            store.database.execute(sql(format!("UPDATE host_chain_index SET {change}"))).await.unwrap();
            assert!(!store.stop(&row, "too deep").await.unwrap(), "{change}");
            assert_eq!(store.load().await.unwrap().unwrap().stopped, None, "{change}");
        }
    }
}

//! What the database remembers of an index: its place, the blocks before it, who works on it.
//!
//! The rule: the place moves in the transaction that writes the rows, and only from where that transaction found it. So no
//! event is applied twice, whoever believes to be the one that indexes.

use alloy_primitives::B256;
use gateway_storage::{Database, Dialect, Final, Scope, StorageError};
use plugin_api::{Sql, abi::Statement, sql};
use serde::{Deserialize, de::DeserializeOwned};

/// The block of the turn while rows are written that need no before-image.
pub const NO_JOURNAL: i64 = -1;

#[derive(Clone)]
pub struct Store {
    database: Database,
    pub plugin: String,
}

/// Where an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The next block to index.
    pub next: u64,
    /// Name of the block before; none before the first.
    pub hash: Option<B256>,
}

/// The row of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub place: Place,
    pub shape: String,
    pub start: u64,
    pub stopped: Option<String>,
    pub holder: Option<String>,
}

#[derive(Deserialize)]
struct IndexRow {
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

impl Store {
    pub fn new(database: Database, plugin: &str) -> Self {
        Self { database, plugin: plugin.to_owned() }
    }

    pub fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    pub async fn read<T: DeserializeOwned>(&self, statement: Sql) -> Result<Vec<T>, StorageError> {
        let rows = self.database.read(&Scope::Host, statement.into()).await?;
        plugin_api::decode_rows(&rows).map_err(|error| StorageError::Internal(error.to_string()))
    }

    pub async fn known(&self) -> Result<Option<Known>, StorageError> {
        let statement = sql("SELECT shape, start_block, next_block, hash, stopped, holder FROM host_chain_index \
             WHERE plugin = $1")
        .bind(&self.plugin);
        let row = self.read::<IndexRow>(statement).await?.into_iter().next();
        Ok(row.map(|row| Known {
            place: Place { next: unsigned(row.next_block), hash: row.hash.parse().ok() },
            shape: row.shape,
            start: unsigned(row.start_block),
            stopped: row.stopped,
            holder: row.holder,
        }))
    }

    /// Whether this gateway may work on the index until then. SQLite has one gateway: whoever held it before is gone. Makes
    /// the row of a new index, with an empty shape, which fits no plugin, so that it begins with a reset.
    pub async fn claim(&self, holder: &str, now_ms: i64, until_ms: i64) -> Result<bool, StorageError> {
        let is_free = match self.dialect() {
            Dialect::Sqlite => "$4 = $4",
            Dialect::Postgres => "known.holder IS NULL OR known.holder = $2 OR known.lease_until_ms < $4",
        };
        let text = format!(
            "INSERT INTO host_chain_index AS known (plugin, shape, start_block, next_block, hash, holder, lease_until_ms) \
             VALUES ($1, '', 0, 0, '', $2, $3) ON CONFLICT (plugin) DO UPDATE \
             SET holder = excluded.holder, lease_until_ms = excluded.lease_until_ms WHERE {is_free}"
        );
        let statement = sql(text).bind(&self.plugin).bind(holder).bind(until_ms).bind(now_ms);
        Ok(self.change(statement).await? == 1)
    }

    pub async fn release(&self, holder: &str) -> Result<(), StorageError> {
        let statement = sql("UPDATE host_chain_index SET holder = NULL WHERE plugin = $1 AND holder = $2");
        self.change(statement.bind(&self.plugin).bind(holder)).await.map(drop)
    }

    /// Stops the index until an operator lets it begin anew.
    pub async fn stop(&self, reason: &str) -> Result<(), StorageError> {
        let statement = sql("UPDATE host_chain_index SET stopped = $2 WHERE plugin = $1");
        self.change(statement.bind(&self.plugin).bind(reason)).await.map(drop)
    }

    /// Lets the index begin anew, wherever it is worked on. `false` when there is none.
    pub async fn forget(&self) -> Result<bool, StorageError> {
        let statement = sql("UPDATE host_chain_index SET shape = '', stopped = NULL WHERE plugin = $1");
        Ok(self.change(statement.bind(&self.plugin)).await? == 1)
    }

    /// The blocks whose events can still be undone, newest first.
    pub async fn window(&self) -> Result<Vec<(u64, B256)>, StorageError> {
        let statement = sql("SELECT block, hash FROM host_chain_blocks WHERE plugin = $1 ORDER BY block DESC");
        let rows: Vec<(i64, String)> = self.read(statement.bind(&self.plugin)).await?;
        Ok(rows.into_iter().filter_map(|(block, hash)| Some((unsigned(block), hash.parse().ok()?))).collect())
    }

    /// The last statement of every transaction of an index: gives a row when the index is where the transaction began.
    pub fn advance(&self, from: &Known, to: &Place) -> Final {
        let statement = sql("UPDATE host_chain_index SET next_block = $2, hash = $3 \
             WHERE plugin = $1 AND next_block = $4 AND hash = $5 AND shape = $6 AND stopped IS NULL RETURNING 1");
        let statement = statement.bind(&self.plugin).bind(signed(to.next)).bind(name(to));
        Final::expecting_row(statement.bind(signed(from.place.next)).bind(name(&from.place)).bind(&from.shape).into())
    }

    /// The same for a beginning: another shape, and the first block.
    pub fn restart(&self, from: &Known, shape: &str, start: u64) -> Final {
        let statement = sql("UPDATE host_chain_index SET shape = $2, start_block = $3, next_block = $3, hash = '', \
             stopped = NULL WHERE plugin = $1 AND shape = $4 AND next_block = $5 RETURNING 1");
        let statement = statement.bind(&self.plugin).bind(shape).bind(signed(start));
        Final::expecting_row(statement.bind(&from.shape).bind(signed(from.place.next)).into())
    }

    /// Opens the derived tables for this transaction and says to which block its changes belong.
    pub fn begin_turn(&self, block: i64) -> Statement {
        sql("INSERT INTO host_chain_turn (plugin, block) VALUES ($1, $2) \
             ON CONFLICT (plugin) DO UPDATE SET block = excluded.block")
        .bind(&self.plugin)
        .bind(block)
        .into()
    }

    /// Closes the derived tables again.
    pub fn end_turn(&self) -> Statement {
        sql("DELETE FROM host_chain_turn WHERE plugin = $1").bind(&self.plugin).into()
    }

    pub fn remember_block(&self, block: u64, hash: B256) -> Statement {
        sql("INSERT INTO host_chain_blocks (plugin, block, hash) VALUES ($1, $2, $3) \
             ON CONFLICT (plugin, block) DO UPDATE SET hash = excluded.hash")
        .bind(&self.plugin)
        .bind(signed(block))
        .bind(hash.to_string())
        .into()
    }

    pub fn hold_event(&self, block: u64, event: String) -> Statement {
        sql("INSERT INTO host_chain_pending (plugin, block, event) VALUES ($1, $2, $3)")
            .bind(&self.plugin)
            .bind(signed(block))
            .bind(event)
            .into()
    }

    /// The held events up to this block, in their order.
    pub fn held_events(&self, block: u64) -> Statement {
        sql("SELECT event FROM host_chain_pending WHERE plugin = $1 AND block <= $2 ORDER BY block, id")
            .bind(&self.plugin)
            .bind(signed(block))
            .into()
    }

    pub fn forget_held(&self, block: u64) -> Statement {
        sql("DELETE FROM host_chain_pending WHERE plugin = $1 AND block <= $2")
            .bind(&self.plugin)
            .bind(signed(block))
            .into()
    }

    /// Forgets what is needed for undoing the block `last_final` and those before it.
    pub fn prune(&self, last_final: u64) -> [Statement; 2] {
        [
            sql("DELETE FROM host_chain_journal WHERE plugin = $1 AND block <= $2"),
            sql("DELETE FROM host_chain_blocks WHERE plugin = $1 AND block < $2"),
        ]
        .map(|statement| statement.bind(&self.plugin).bind(signed(last_final)).into())
    }

    /// Every change after this block, newest first.
    pub fn changes_after(&self, block: i64) -> Statement {
        sql("SELECT tab, before_row, after_row FROM host_chain_journal WHERE plugin = $1 AND block > $2 ORDER BY id DESC")
            .bind(&self.plugin)
            .bind(block)
            .into()
    }

    /// Forgets everything after this block but the rows themselves.
    pub fn forget_after(&self, block: i64) -> [Statement; 3] {
        [
            sql("DELETE FROM host_chain_journal WHERE plugin = $1 AND block > $2"),
            sql("DELETE FROM host_chain_blocks WHERE plugin = $1 AND block > $2"),
            sql("DELETE FROM host_chain_pending WHERE plugin = $1 AND block > $2"),
        ]
        .map(|statement| statement.bind(&self.plugin).bind(block).into())
    }

    async fn change(&self, statement: Sql) -> Result<u64, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let outcomes = transaction.commit(vec![Final::new(statement.into())]).await?;
        Ok(outcomes.iter().map(|outcome| outcome.changes).sum())
    }
}

fn name(place: &Place) -> String {
    place.hash.map(|hash| hash.to_string()).unwrap_or_default()
}

/// Block numbers are far below 2^63.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

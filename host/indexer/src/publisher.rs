//! Makes the events of all indexes of a chain public, in the order of the chain.
//!
//! The rule: events of a block become public together, when the block is `confirmations` deep for every index that follows the
//! chain, and these indexes are on one branch. An index that is behind what is public already (a plugin that was just turned on)
//! holds nobody back; its events become public as it comes to them.

use super::{indexes::Indexes, store::to_i64, stuck_indexes::StuckIndexes};
use gateway_activity::ActivityLog;
use gateway_chain::Chain;
use gateway_clock::Backoff;
use gateway_storage::{CommitStatement, Database, HOST_OWNER, Scope, StorageError};
use plugin_api::{Sql, sql};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Events of one transaction, extended to the end of a block.
const EVENTS_MAX: usize = 2_000;
/// For what no change of an index tells: one that is stuck, and one that another gateway moves.
const POLL: Duration = Duration::from_secs(5);
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), POLL);

/// Publishes the events of one chain until `stop`. Every gateway on a database does this; a block is published by the first.
pub fn publish_events(
    database: Database,
    activity: ActivityLog,
    chain: Arc<Chain>,
    indexes: Arc<Indexes>,
    stop: CancellationToken,
) -> impl Future<Output = ()> + Send + 'static {
    // Before the task runs for the first time: until then its events are not public.
    indexes.set_published(&chain.name, u64::MAX);
    run(database, activity, chain, indexes, stop)
}

async fn run(
    database: Database,
    activity: ActivityLog,
    chain: Arc<Chain>,
    indexes: Arc<Indexes>,
    stop: CancellationToken,
) {
    let mut changes = indexes.subscribe();
    let mut publisher = Publisher { database, activity, indexes, chain, stuck: StuckIndexes::default() };
    let mut failures = 0_u32;
    loop {
        let seen = *changes.borrow_and_update();
        let published = tokio::select! {
            () = stop.cancelled() => return,
            published = publisher.publish() => published,
        };
        let wait = match published {
            Ok(has_more) => {
                failures = 0;
                if has_more {
                    continue;
                }
                publisher.indexes.set_published(&publisher.chain.name, seen);
                POLL
            }
            Err(error) => {
                tracing::warn!(chain = publisher.chain.name, %error, "chain events wait to become public");
                let wait = BACKOFF.wait_after(failures);
                failures = failures.saturating_add(1);
                wait
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            // After a failure a change is no reason to try again at once.
            _ = changes.changed(), if failures == 0 => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

struct Publisher {
    database: Database,
    activity: ActivityLog,
    indexes: Arc<Indexes>,
    chain: Arc<Chain>,
    stuck: StuckIndexes,
}

/// Where an index and the publisher are, at one moment.
#[derive(Deserialize)]
struct PositionRow {
    plugin: String,
    next_block: i64,
    public_block: i64,
    version: i64,
}

/// The last block of each plugin whose events may be public.
type Limits = BTreeMap<String, i64>;

impl Publisher {
    /// Publishes the next events; `true` when there may be more.
    async fn publish(&mut self) -> Result<bool, StorageError> {
        let rows: Vec<PositionRow> = self
            .database
            .fetch_all(
                sql("SELECT i.plugin, i.next_block, p.block AS public_block, p.version \
             FROM host_chain_index i JOIN host_chain_publisher p ON p.chain = i.chain WHERE i.chain = $1")
                .bind(&self.chain.name),
            )
            .await?;
        let Some((public_block, version)) = rows.first().map(|row| (row.public_block, row.version)) else {
            return self.register().await;
        };
        let of_row = |plugin: String| {
            let row = rows.iter().find(|row| row.plugin == plugin);
            (plugin, row.map_or(0, |row| row.next_block))
        };
        let next_blocks: BTreeMap<String, i64> =
            self.indexes.running(&self.chain.name).into_iter().map(of_row).collect();
        let Some((limit, followers)) = self.common_limit(&next_blocks, public_block) else { return Ok(false) };
        let confirmations = to_i64(self.chain.settings.confirmations);
        let own_limit = |(plugin, next): (String, i64)| (plugin, limit.min(next - 1 - confirmations));
        let mut limits: Limits = next_blocks.into_iter().map(own_limit).filter(|(_, limit)| *limit >= 0).collect();
        let waiting = self.waiting_blocks(&limits).await?;
        if waiting.is_empty() || !self.are_on_one_branch(limit + confirmations, &followers).await? {
            return Ok(false);
        }
        let part_end = waiting.get(EVENTS_MAX).copied().unwrap_or(limit);
        limits.values_mut().for_each(|limit| *limit = part_end.min(*limit));
        let is_committed = self.commit(&limits, public_block.max(part_end), version).await?;
        Ok(!is_committed || waiting.len() > EVENTS_MAX)
    }

    /// The last block that is deep enough for every index that follows the chain, and these indexes.
    fn common_limit(&mut self, next_blocks: &BTreeMap<String, i64>, public_block: i64) -> Option<(i64, Vec<String>)> {
        let now = Instant::now();
        let numbers =
            next_blocks.iter().map(|(plugin, next)| (plugin.as_str(), u64::try_from(*next).unwrap_or_default()));
        self.stuck.observe(numbers, now);
        let moving = |plugin: &str| !self.stuck.is_stuck(plugin, now);
        let select = |from: i64| {
            let selected = next_blocks.iter().filter(|(plugin, next)| **next >= from && moving(plugin));
            selected.map(|(plugin, next)| (plugin.clone(), *next)).collect::<Vec<_>>()
        };
        let followers = Some(select(public_block)).filter(|followers| !followers.is_empty());
        // When all begin anew, each follows the chain.
        let followers = followers.unwrap_or_else(|| select(0));
        let next = followers.iter().map(|(_, next)| *next).min()?;
        let limit = next - 1 - to_i64(self.chain.settings.confirmations);
        (limit >= 0).then(|| (limit, followers.into_iter().map(|(plugin, _)| plugin).collect()))
    }

    /// Blocks of the next events, one item per event: at most one more than fits into a transaction.
    async fn waiting_blocks(&self, limits: &Limits) -> Result<Vec<i64>, StorageError> {
        if limits.is_empty() {
            return Ok(Vec::new());
        }
        let statement = self.within("SELECT block FROM host_chain_events", limits);
        self.database.fetch_all(statement.push_bind(" ORDER BY block LIMIT {}", to_i64(EVENTS_MAX as u64 + 1))).await
    }

    /// Whether these indexes have the same block of this number. Blocks that no reorganisation undoes are not stored.
    async fn are_on_one_branch(&self, block: i64, plugins: &[String]) -> Result<bool, StorageError> {
        let statement = sql("SELECT plugin, hash FROM host_chain_blocks WHERE block = $1 AND chain = $2");
        let statement = statement.bind(block).bind(&self.chain.name);
        let mut blocks: Vec<(String, String)> = self.database.fetch_all(statement).await?;
        blocks.retain(|(plugin, _)| plugins.contains(plugin));
        Ok(blocks.windows(2).all(|pair| pair[0].1 == pair[1].1))
    }

    /// The first statement keeps others from publishing at the same time. Returns false when an index undid blocks meanwhile.
    async fn commit(&self, limits: &Limits, public_block: i64, version: i64) -> Result<bool, StorageError> {
        let lock = sql("UPDATE host_chain_publisher SET block = $1 WHERE version = $2 AND chain = $3 RETURNING 1");
        let lock = lock.bind(public_block).bind(version).bind(&self.chain.name);
        let mut statements = vec![CommitStatement::expecting_row(lock.into())];
        let columns = "SELECT type, ts, actor, ref_kind, ref_id, data, unique_key FROM host_chain_events";
        let select = self.within(columns, limits).push(" ORDER BY block, log_index, plugin, id");
        statements.push(self.activity.select_statement(select));
        let delete_final = self.within("DELETE FROM host_chain_events", limits).push(" AND is_final = 1");
        statements.push(CommitStatement::new(delete_final.into()));
        let mark = self.within("UPDATE host_chain_events SET is_public = 1", limits);
        statements.push(CommitStatement::new(mark.into()));
        statements.extend(self.database.change_statement(HOST_OWNER));
        match self.database.begin(Scope::Host).commit(statements).await {
            Err(StorageError::Rejected(_)) => return Ok(false),
            committed => committed?,
        };
        self.activity.notify_written();
        Ok(true)
    }

    /// Adds the publisher's row for a chain that an index begins with; `true` when it was not there.
    async fn register(&self) -> Result<bool, StorageError> {
        if self.indexes.running(&self.chain.name).is_empty() {
            return Ok(false);
        }
        let insert = sql("INSERT INTO host_chain_publisher (chain, block, version) VALUES ($1, 0, 0) \
             ON CONFLICT (chain) DO NOTHING");
        Ok(self.database.execute(insert.bind(&self.chain.name)).await?.changes > 0)
    }

    /// Appends the condition that an event of the chain waits and is within its plugin's limit.
    fn within(&self, text: &'static str, limits: &Limits) -> Sql {
        let statement = sql(text).push_bind(" WHERE is_public = 0 AND chain = {}", self.chain.name.as_str());
        let or = |statement: Sql, (plugin, limit): (&String, &i64)| {
            statement.push_bind(" OR (plugin = {}", plugin.as_str()).push_bind(" AND block <= {})", *limit)
        };
        limits.iter().fold(statement.push(" AND (1 = 0"), or).push(")")
    }
}

//! The loop of one index: tick after tick until the plugin stops.
//!
//! The rule: after any error the row is read again before the next tick, because another gateway may have moved it.

use super::{
    derived_table::DerivedTable,
    error::{BLOCK_TIME_FACTOR_MAX, IndexError},
    event_subscriptions::EventSubscriptions,
    follow_head::NextTick,
    index::{Index, IndexerContext, ROW_POLL},
    progress::Progress,
    reset::Undo,
    store::IndexRow,
};
use gateway_clock::Backoff;
use gateway_config::MAIN;
use gateway_plugins::ActivePlugin;
use plugin_api::manifest::Manifest;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(51_200));
/// While no RPC server responds: another attempt costs little.
const CHAIN_BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(1_600));

/// The chains whose events the plugin subscribes to. It has an index on each.
pub fn chains_of(manifest: &Manifest) -> BTreeSet<String> {
    manifest.subscriptions.iter().map(|subscription| subscription.chain.clone()).collect()
}

/// Runs the index of a plugin on a chain until the plugin stops. Without the chain or deployed contracts it only reports why it
/// is off.
pub fn run(
    context: IndexerContext,
    plugin: Arc<ActivePlugin>,
    chain: String,
) -> impl Future<Output = ()> + Send + 'static {
    // Before the task runs for the first time: the publisher waits for every index that will follow the chain.
    let progress = context.indexes.open(plugin.name(), &chain, context.log_format);
    run_with(context, plugin, chain, progress)
}

async fn run_with(context: IndexerContext, plugin: Arc<ActivePlugin>, chain: String, progress: Arc<Progress>) {
    let Some(chain) = context.chains.get(&chain).cloned() else {
        return progress.set_off(&match chain.as_str() {
            MAIN => "no chain is configured".to_owned(),
            other => format!("the chain {other} is not configured: add a section [chains.{other}]"),
        });
    };
    match EventSubscriptions::new(&chain.name, &chain.settings, &plugin.manifest.subscriptions) {
        Err(reason) => progress.set_stopped(&reason),
        Ok(subscriptions) if subscriptions.is_empty() => progress.set_off("none of its contracts is deployed"),
        Ok(subscriptions) => Index::new(context, plugin, chain, subscriptions, progress).run().await,
    }
}

impl Index {
    async fn run(mut self) {
        let stop = self.plugin.handle.stop.clone();
        let mut heads = self.chain.subscribe_head();
        let mut failures = 0_u32;
        loop {
            // Marked as seen before the tick: a head that moves during the tick starts the next one.
            heads.borrow_and_update();
            let next = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                next = Box::pin(self.tick()) => next,
            };
            let wait = match next {
                Ok(next) => {
                    failures = 0;
                    if next != NextTick::Blocked {
                        self.progress.tick_succeeded();
                    }
                    if next == NextTick::Now {
                        continue;
                    }
                    None
                }
                Err(error) => {
                    self.handle_error(&error).await;
                    let backoff = if matches!(error, IndexError::Chain(_)) { CHAIN_BACKOFF } else { BACKOFF };
                    let wait = backoff.wait_after(failures);
                    failures = failures.saturating_add(1);
                    Some(wait)
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                _ = heads.changed(), if wait.is_none() => {}
                () = tokio::time::sleep(wait.unwrap_or(ROW_POLL)) => {}
            }
        }
        self.progress.set_off("the plugin is off");
        self.release_lease().await;
    }

    async fn handle_error(&mut self, error: &IndexError) {
        // The row may have changed.
        let row = self.row.take();
        self.row_polled = None;
        let text = error.to_string();
        if let IndexError::BlockTooSlow { .. } = error {
            self.time_factor = (self.time_factor * 2).min(BLOCK_TIME_FACTOR_MAX);
        }
        match error {
            IndexError::CursorMoved | IndexError::Stopping => {}
            IndexError::TooSlow => {
                self.commit_events = (self.commit_events / 2).max(1);
                tracing::info!(
                    plugin = self.plugin.name(),
                    chain = self.chain.name,
                    events = self.commit_events,
                    reason = text
                );
            }
            IndexError::Unrecoverable(reason) => self.stop(row.as_ref(), reason).await,
            IndexError::InvalidManifest(reason) => self.progress.set_stopped(reason),
            _ => {
                tracing::warn!(plugin = self.plugin.name(), chain = self.chain.name, reason = text, "the index waits");
                self.progress.set_failing(&text);
            }
        }
    }

    /// Stops the index where this gateway last saw it. When an operator or another gateway has moved it, the next tick looks again.
    async fn stop(&self, row: Option<&IndexRow>, reason: &str) {
        let (plugin, chain) = (self.plugin.name(), &self.chain.name);
        let Some(row) = row else { return };
        match self.store.stop(row, reason).await {
            Ok(true) => {
                tracing::error!(plugin, chain, reason, "the index stops");
                self.progress.set_stopped(reason);
            }
            Ok(false) => tracing::info!(plugin, chain, reason, "the index was moved before it stopped"),
            Err(error) => tracing::error!(plugin, chain, %error, "the index cannot be stopped"),
        }
    }

    async fn tick(&mut self) -> Result<NextTick, IndexError> {
        if self.tables.is_empty() && !self.table_names.is_empty() {
            self.tables = self.prepare_tables().await?;
        }
        let Some(row) = self.poll_row().await? else { return Ok(NextTick::Blocked) };
        if let Some(reason) = &row.stopped {
            self.progress.set_stopped(reason);
            return Ok(NextTick::Blocked);
        }
        let Some(head) = self.chain.live_head() else {
            self.progress.set_failing(&self.chain.unavailable().to_string());
            return Ok(NextTick::Blocked);
        };
        if row.fingerprint != self.fingerprint {
            // The chain may have been reorganised while the gateway was off, or the index stopped.
            let has_lost_blocks = row.cursor.hash.is_some() && head.number + 1 < row.cursor.next_block;
            let is_orphaned = has_lost_blocks || self.is_orphaned(&row).await?;
            self.reset(&row, if is_orphaned { Undo::Blocks } else { Undo::Rows }).await?;
            return Ok(NextTick::Now);
        }
        self.progress.tick_started(&row, head.number);
        let last_final = self.chain.final_number(head.number);
        if row.cursor.next_block <= last_final {
            match self.is_orphaned(&row).await? {
                true => self.reorganise(&row).await?,
                false => self.backfill(last_final).await?,
            }
            return Ok(NextTick::Now);
        }
        self.follow_head(&row, head).await
    }

    /// Loads the derived tables and installs their triggers.
    async fn prepare_tables(&self) -> Result<Vec<DerivedTable>, IndexError> {
        let mut tables = Vec::with_capacity(self.table_names.len());
        for name in &self.table_names {
            let table = DerivedTable::load(&self.store, name).await?.map_err(IndexError::InvalidManifest)?;
            table.install_triggers(&self.transactions.database, &self.store).await?;
            tables.push(table);
        }
        Ok(tables)
    }
}

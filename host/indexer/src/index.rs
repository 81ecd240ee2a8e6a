//! The state of one index, which is that of a plugin on a chain, and its row and lease in the database.
//!
//! The rule: a gateway works on an index only while it holds the lease.

use super::{
    adaptive_range::AdaptiveRange,
    derived_table::DerivedTable,
    error::IndexError,
    event_subscriptions::EventSubscriptions,
    fingerprint::{derived_tables, fingerprint},
    indexes::Indexes,
    progress::Progress,
    store::{IndexRow, IndexStore},
};
use gateway_chain::{Chain, Chains, LogFilter};
use gateway_config::LogFormat;
use gateway_plugins::{ActivePlugin, TransactionContext};
use gateway_storage::{Dialect, Scope, StorageError};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// How often a gateway renews the lease of an index.
const LEASE_RENEW: Duration = Duration::from_secs(4);
/// How often the row is read again, to notice other gateways and operators.
pub(crate) const ROW_POLL: Duration = Duration::from_secs(1);
/// Events of the first commit; later ones adapt to the time that a commit takes.
const COMMIT_EVENTS_FIRST: usize = 100;

/// The parts of the gateway that every index uses.
#[derive(Clone)]
pub struct IndexerContext {
    pub transactions: Arc<TransactionContext>,
    pub chains: Arc<Chains>,
    pub indexes: Arc<Indexes>,
    /// Decides between a progress bar and lines of the log.
    pub log_format: LogFormat,
    /// The database ends longer transactions.
    pub transaction_timeout: Duration,
}

pub(crate) struct Index {
    pub transactions: Arc<TransactionContext>,
    pub transaction_timeout: Duration,
    pub plugin: Arc<ActivePlugin>,
    pub chain: Arc<Chain>,
    pub subscriptions: Arc<EventSubscriptions>,
    pub filters: Vec<LogFilter>,
    pub store: IndexStore,
    pub scope: Scope,
    /// In the order of the manifest.
    pub table_names: Vec<String>,
    /// Empty until the first tick.
    pub tables: Vec<DerivedTable>,
    pub fingerprint: String,
    pub progress: Arc<Progress>,
    /// As this gateway last read or wrote it.
    pub row: Option<IndexRow>,
    pub row_polled: Option<Instant>,
    lease_renewed: Option<Instant>,
    /// A lease that is being acquired. It is not cancelled with the tick: the release must come after it.
    acquiring: Option<JoinHandle<Result<bool, StorageError>>>,
    pub commit_events: usize,
    /// More than 1 while a block has so many events that a transaction of the usual length is too short for them.
    pub time_factor: u32,
    /// Blocks of one request of the backfill.
    pub range: Arc<AdaptiveRange>,
}

impl Index {
    pub(crate) fn new(
        context: IndexerContext,
        plugin: Arc<ActivePlugin>,
        chain: Arc<Chain>,
        subscriptions: EventSubscriptions,
        progress: Arc<Progress>,
    ) -> Self {
        let table_names = derived_tables(&plugin.manifest, &chain.name);
        Self {
            scope: plugin.scope.writing_only(table_names.iter().cloned().collect::<BTreeSet<_>>()),
            store: IndexStore::new(context.transactions.database.clone(), plugin.name(), &chain.name),
            fingerprint: fingerprint(&chain, &subscriptions, &plugin.manifest),
            filters: subscriptions.filters(),
            range: Arc::new(AdaptiveRange::new(chain.settings.range_blocks_max)),
            table_names,
            tables: Vec::new(),
            row: None,
            row_polled: None,
            lease_renewed: None,
            acquiring: None,
            commit_events: COMMIT_EVENTS_FIRST,
            time_factor: 1,
            transactions: context.transactions,
            transaction_timeout: context.transaction_timeout,
            plugin,
            chain,
            subscriptions: Arc::new(subscriptions),
            progress,
        }
    }

    pub(crate) fn is_row_poll_due(&self) -> bool {
        self.row.is_none() || !is_recent(self.row_polled, ROW_POLL)
    }

    /// The row of the index while this gateway holds the lease; `None` while another does. No commit may be in flight.
    pub(crate) async fn poll_row(&mut self) -> Result<Option<IndexRow>, IndexError> {
        if !self.is_row_poll_due() {
            return Ok(self.row.clone());
        }
        // SQLite has no other gateway: the lease is acquired once, which saves a write every few seconds.
        let holds_lease = match self.transactions.database.dialect() {
            Dialect::Sqlite => self.lease_renewed.is_some(),
            Dialect::Postgres => is_recent(self.lease_renewed, LEASE_RENEW),
        };
        if !holds_lease {
            if !self.acquire_lease().await? {
                self.lease_renewed = None;
                if let Some(row) = self.store.load().await? {
                    self.progress.set_elsewhere(&row, self.chain.live_head().map(|head| head.number));
                }
                return Ok(None);
            }
            self.lease_renewed = Some(Instant::now());
        }
        self.row = self.store.load().await?;
        self.row_polled = Some(Instant::now());
        if self.row.is_none() {
            self.lease_renewed = None;
        }
        Ok(self.row.clone())
    }

    async fn acquire_lease(&mut self) -> Result<bool, StorageError> {
        let start = || {
            let store = self.store.clone();
            tokio::spawn(async move { store.acquire_lease().await })
        };
        let acquired = self.acquiring.get_or_insert_with(start).await;
        self.acquiring = None;
        acquired.map_err(|error| StorageError::Internal(error.to_string()))?
    }

    /// When this fails, the lease expires.
    pub(crate) async fn release_lease(&mut self) {
        if let Some(acquiring) = self.acquiring.take() {
            let _ = acquiring.await;
        }
        let _ = self.store.release_lease().await;
    }
}

fn is_recent(at: Option<Instant>, limit: Duration) -> bool {
    at.is_some_and(|at| at.elapsed() < limit)
}

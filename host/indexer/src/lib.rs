//! The index of one plugin: follows a chain and lets the plugin derive rows from its events (DESIGN §8).
//!
//! The rules: a batch of blocks, the rows derived from it, what became public by it and the new place commit together; the
//! derived tables always equal those of a fresh index of the branch up to the place; and what cannot be undone stops the
//! index with a reason instead of being guessed.

mod bar;
mod commit;
mod derive;
mod feed;
mod history;
mod live;
mod migration;
mod progress;
mod reorganise;
mod reset;
mod store;
mod tables;
mod told;

pub use migration::migration;
pub use progress::{IndexReport, IndexState, Indexes};
pub use store::Store;

use gateway_chain::{Chain, ChainError, event::Listening, log::Filter};
use gateway_config::LogFormat;
use gateway_plugins::{ActivePlugin, HostContext};
use gateway_storage::{Dialect, Scope, StorageError};
use history::Span;
use progress::Progress;
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};
use store::Known;
use tables::Table;

/// How long a gateway that died keeps the others from its indexes, and how often one that lives renews its right.
const LEASE_MS: i64 = 20_000;
const LEASE_RENEW: Duration = Duration::from_secs(4);
/// How often the row is read again without need, to hear of other gateways and of operators.
const LOOK: Duration = Duration::from_secs(1);
const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_DOUBLINGS_MAX: u32 = 9;
/// The same while the chain is away: it costs little to look whether it is back.
const BACKOFF_DOUBLINGS_MAX_AWAY: u32 = 4;
/// Events of the first commit; later ones are as large as fits their time.
const COMMIT_EVENTS_FIRST: usize = 100;

/// Why a turn did not do its work.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The plugin could not apply an event.
    #[error("{0}")]
    Handler(String),
    /// The plugin declares what cannot be indexed.
    #[error("{0}")]
    Unfit(String),
    /// Only an operator can go on from here.
    #[error("{0}")]
    Stop(String),
    /// Another gateway, or an operator, has moved the index.
    #[error("another gateway has moved the index")]
    Moved,
    /// The commit would not end within the time of a transaction.
    #[error("a commit of several blocks takes too long here; the next ones are smaller")]
    Slow,
    #[error("the plugin stops")]
    Closing,
}

/// What comes after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    More,
    /// Until the head moves.
    Wait,
}

/// What an index works with.
#[derive(Clone)]
pub struct IndexerContext {
    pub host: Arc<HostContext>,
    pub indexes: Arc<Indexes>,
    /// Decides between a progress bar and lines of the log.
    pub log_format: LogFormat,
    /// The database ends longer transactions.
    pub transaction_timeout: Duration,
}

struct Index {
    host: Arc<HostContext>,
    transaction_timeout: Duration,
    plugin: Arc<ActivePlugin>,
    chain: Arc<Chain>,
    listening: Arc<Listening>,
    filter: Filter,
    store: Store,
    scope: Scope,
    /// In the order of the manifest.
    derived: Vec<String>,
    tables: Vec<Table>,
    shape: String,
    progress: Arc<Progress>,
    known: Option<Known>,
    looked: Option<Instant>,
    renewed: Option<Instant>,
    commit_events: usize,
    /// Blocks of one question for the past.
    span: Arc<Span>,
}

/// Keeps the index of a plugin until the plugin stops. Without chain or contracts there is nothing to keep, and it says so.
pub async fn run(context: IndexerContext, plugin: Arc<ActivePlugin>) {
    let progress = context.indexes.open(plugin.name(), context.log_format);
    let Some(chain) = context.host.chains.main().cloned() else {
        return progress.is_off("no chain is configured");
    };
    match Listening::new(&chain.name, &chain.settings, &plugin.manifest.subscriptions) {
        Err(reason) => progress.is_stopped(&reason),
        Ok(listening) if listening.is_empty() => progress.is_off("none of its contracts is deployed"),
        Ok(listening) => Index::new(context, plugin, chain, listening, progress).keep().await,
    }
}

impl Index {
    fn new(
        context: IndexerContext,
        plugin: Arc<ActivePlugin>,
        chain: Arc<Chain>,
        listening: Listening,
        progress: Arc<Progress>,
    ) -> Self {
        let derived = reset::derived_tables(&plugin.manifest);
        Self {
            scope: plugin.scope.writing_only(derived.iter().cloned().collect::<BTreeSet<_>>()),
            store: Store::new(context.host.database.clone(), plugin.name()),
            shape: reset::shape(&chain, &listening, &plugin.manifest),
            filter: listening.filter(),
            span: Arc::new(Span::new(chain.settings.range_blocks_max)),
            derived,
            tables: Vec::new(),
            known: None,
            looked: None,
            renewed: None,
            commit_events: COMMIT_EVENTS_FIRST,
            host: context.host,
            transaction_timeout: context.transaction_timeout,
            plugin,
            chain,
            listening: Arc::new(listening),
            progress,
        }
    }

    async fn keep(mut self) {
        let stop = self.plugin.handle.stop.clone();
        let mut heads = self.chain.follow();
        let mut failures = 0;
        loop {
            // Seen before the turn: a head that moves during the turn wakes us again.
            heads.borrow_and_update();
            let turn = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                turn = Box::pin(self.turn()) => turn,
            };
            let pause = match turn {
                Ok(Pace::More) => {
                    failures = 0;
                    continue;
                }
                Ok(Pace::Wait) => {
                    failures = 0;
                    None
                }
                Err(trouble) => {
                    self.note(&trouble).await;
                    let doublings_max = match trouble {
                        Trouble::Chain(_) => BACKOFF_DOUBLINGS_MAX_AWAY,
                        _ => BACKOFF_DOUBLINGS_MAX,
                    };
                    let doublings = failures.min(doublings_max);
                    failures += 1;
                    Some(BACKOFF_FIRST.saturating_mul(1 << doublings))
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                _ = heads.changed(), if pause.is_none() => {}
                () = tokio::time::sleep(pause.unwrap_or(LOOK)) => {}
            }
        }
        self.progress.is_off("the plugin is off");
        // When this fails, the lease runs out.
        let _ = self.store.release(&self.host.chains.holder).await;
    }

    async fn note(&mut self, trouble: &Trouble) {
        // What was believed about the row may be wrong now.
        (self.known, self.looked) = (None, None);
        let text = trouble.to_string();
        match trouble {
            Trouble::Moved | Trouble::Closing => {}
            Trouble::Slow => {
                self.commit_events = (self.commit_events / 2).max(1);
                tracing::info!(plugin = self.plugin.name(), events = self.commit_events, reason = text);
            }
            Trouble::Stop(reason) => match self.store.stop(reason).await {
                Ok(()) => {
                    tracing::error!(plugin = self.plugin.name(), reason, "the index stops");
                    self.progress.is_stopped(reason);
                }
                Err(error) => tracing::error!(plugin = self.plugin.name(), %error, "the index cannot be stopped"),
            },
            Trouble::Unfit(reason) => self.progress.is_stopped(reason),
            _ => {
                tracing::warn!(plugin = self.plugin.name(), reason = text, "the index waits");
                self.progress.fails(&text);
            }
        }
    }

    async fn turn(&mut self) -> Result<Pace, Trouble> {
        if self.tables.is_empty() && !self.derived.is_empty() {
            self.tables = self.guarded_tables().await?;
        }
        let Some(known) = self.look().await? else { return Ok(Pace::Wait) };
        if let Some(reason) = &known.stopped {
            self.progress.is_stopped(reason);
            return Ok(Pace::Wait);
        }
        if known.shape != self.shape {
            self.reset(&known).await?;
            return Ok(Pace::More);
        }
        let Some(head) = self.chain.live_head() else {
            self.progress.fails(&self.chain.unavailable().to_string());
            return Ok(Pace::Wait);
        };
        self.progress.sees(&known, head.number);
        let last_final = self.chain.final_number(head.number);
        if known.place.next <= last_final {
            match self.is_abandoned(&known).await? {
                true => self.reorganise(&known).await?,
                false => self.history(last_final).await?,
            }
            return Ok(Pace::More);
        }
        self.live(&known, head).await
    }

    /// Whether the row is to be read again.
    fn is_look_due(&self) -> bool {
        self.known.is_none() || !is_recent(self.looked, LOOK)
    }

    /// The row of the index, when this gateway is the one to work on it. Nothing may be on its way to it.
    async fn look(&mut self) -> Result<Option<Known>, Trouble> {
        if !self.is_look_due() {
            return Ok(self.known.clone());
        }
        // On SQLite there is no other gateway: once is enough, and spares a write now and then.
        let is_ours = match self.host.database.dialect() {
            Dialect::Sqlite => self.renewed.is_some(),
            Dialect::Postgres => is_recent(self.renewed, LEASE_RENEW),
        };
        if !is_ours {
            let now_ms = self.host.clock.now_ms();
            if !self.store.claim(&self.host.chains.holder, now_ms, now_ms.saturating_add(LEASE_MS)).await? {
                self.renewed = None;
                if let Some(known) = self.store.known().await? {
                    self.progress.is_elsewhere(&known, self.chain.live_head().map(|head| head.number));
                }
                return Ok(None);
            }
            self.renewed = Some(Instant::now());
        }
        self.known = self.store.known().await?;
        self.looked = Some(Instant::now());
        if self.known.is_none() {
            self.renewed = None;
        }
        Ok(self.known.clone())
    }

    async fn guarded_tables(&self) -> Result<Vec<Table>, Trouble> {
        let mut tables = Vec::with_capacity(self.derived.len());
        for name in &self.derived {
            let table = Table::find(&self.store, name).await?.map_err(Trouble::Unfit)?;
            table.guard(&self.host.database, &self.store).await?;
            tables.push(table);
        }
        Ok(tables)
    }
}

fn is_recent(at: Option<Instant>, limit: Duration) -> bool {
    at.is_some_and(|at| at.elapsed() < limit)
}

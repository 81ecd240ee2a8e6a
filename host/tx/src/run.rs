//! The task that sends transactions, one per chain.

use super::{Journal, nonce_queue::NonceQueue};
use futures_util::future::join_all;
use gateway_chain::Chain;
use gateway_storage::{Dialect, StorageError};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The longest time between two passes while intents are open.
const BUSY_INTERVAL: Duration = Duration::from_millis(500);
/// The same without open intents: on PostgreSQL another gateway may have recorded one.
const IDLE_INTERVAL_POSTGRES: Duration = Duration::from_secs(5);
const IDLE_INTERVAL_SQLITE: Duration = Duration::from_secs(60);

/// Sends the recorded intents of one chain until `stop` is cancelled. The next start continues with those still open.
pub async fn run(journal: Arc<Journal>, chain: Arc<Chain>, stop: CancellationToken) {
    let mut heads = chain.subscribe_head();
    let mut recorded = journal.subscribe();
    let busy_interval = BUSY_INTERVAL.min(Duration::from_millis(chain.settings.poll_ms));
    let idle_interval = match journal.store.dialect() {
        Dialect::Sqlite => IDLE_INTERVAL_SQLITE,
        Dialect::Postgres => IDLE_INTERVAL_POSTGRES,
    };
    let mut queues: Option<Vec<NonceQueue>> = None;
    loop {
        // Marked as seen before the pass, so that a change during the pass causes another one.
        heads.borrow_and_update();
        recorded.borrow_and_update();
        let passes = Box::pin(run_passes(&journal, &chain, &mut queues));
        let is_busy = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            is_busy = passes => is_busy,
        };
        tokio::select! {
            () = stop.cancelled() => break,
            _ = recorded.changed() => {}
            _ = heads.changed(), if is_busy => {}
            () = tokio::time::sleep(if is_busy { busy_interval } else { idle_interval }) => {}
        }
    }
    for queue in queues.iter().flatten() {
        // When this fails, the lease expires.
        let _ = journal.store.release_lease(queue.id()).await;
    }
}

/// One pass over every queue. Returns whether intents are open.
async fn run_passes(journal: &Arc<Journal>, chain: &Arc<Chain>, queues: &mut Option<Vec<NonceQueue>>) -> bool {
    if queues.is_none() {
        match load_queues(journal, chain).await {
            Ok(loaded) => *queues = Some(loaded),
            Err(error) => {
                tracing::warn!(chain = chain.name, %error, "the journal of transactions cannot be read now");
                return true;
            }
        }
    }
    let passes = queues.iter_mut().flatten().map(NonceQueue::run_pass);
    join_all(passes).await.into_iter().any(|is_busy| is_busy)
}

/// A queue for every key, and for accounts with open intents whose key is no longer configured.
async fn load_queues(journal: &Arc<Journal>, chain: &Arc<Chain>) -> Result<Vec<NonceQueue>, StorageError> {
    let mut senders: BTreeSet<_> = journal.store.senders(chain.chain_id).await?.into_iter().collect();
    senders.extend(journal.signers.ready().map(|(_, key)| key.address()));
    Ok(senders.into_iter().map(|sender| NonceQueue::new(journal.clone(), chain.clone(), sender)).collect())
}

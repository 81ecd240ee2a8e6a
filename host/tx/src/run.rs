//! The task that sends, one per chain.

use super::{Journal, lane::Lane};
use futures_util::future::join_all;
use gateway_chain::Chain;
use gateway_storage::Dialect;
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Between two turns while something is on its way.
const BUSY: Duration = Duration::from_millis(500);
/// The same with nothing to do: on PostgreSQL another gateway may have left something behind.
const IDLE_POSTGRES: Duration = Duration::from_secs(5);
const IDLE_SQLITE: Duration = Duration::from_secs(60);

/// Sends what is recorded for one chain until told to stop. What is under way then goes on at the next start.
pub async fn run(journal: Arc<Journal>, chain: Arc<Chain>, stop: CancellationToken) {
    let mut heads = chain.follow();
    let mut recorded = journal.recorded.subscribe();
    let busy = BUSY.min(Duration::from_millis(chain.settings.poll_ms));
    let idle = match journal.store.dialect() {
        Dialect::Sqlite => IDLE_SQLITE,
        Dialect::Postgres => IDLE_POSTGRES,
    };
    let mut lanes: Option<Vec<Lane>> = None;
    loop {
        // Seen before the turn: what comes during the turn wakes us again.
        heads.borrow_and_update();
        recorded.borrow_and_update();
        let turn = Box::pin(turn(&journal, &chain, &mut lanes));
        let is_busy = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            is_busy = turn => is_busy,
        };
        tokio::select! {
            () = stop.cancelled() => break,
            _ = recorded.changed() => {}
            _ = heads.changed(), if is_busy => {}
            () = tokio::time::sleep(if is_busy { busy } else { idle }) => {}
        }
    }
    for lane in lanes.iter().flatten() {
        // When this fails, the lease runs out.
        let _ = journal.store.release(lane.place(), &journal.chains.holder).await;
    }
}

/// One turn of every lane; whether something is on its way.
async fn turn(journal: &Arc<Journal>, chain: &Arc<Chain>, lanes: &mut Option<Vec<Lane>>) -> bool {
    if lanes.is_none() {
        match open_lanes(journal, chain).await {
            Ok(opened) => *lanes = Some(opened),
            Err(error) => {
                tracing::warn!(chain = chain.name, %error, "the journal of transactions cannot be read now");
                return true;
            }
        }
    }
    let turns = lanes.iter_mut().flatten().map(Lane::turn);
    join_all(turns).await.into_iter().any(|is_busy| is_busy)
}

/// A lane for every key, and for accounts that signed with a key that is not configured any more.
async fn open_lanes(journal: &Arc<Journal>, chain: &Arc<Chain>) -> Result<Vec<Lane>, gateway_storage::StorageError> {
    let mut senders: BTreeSet<_> = journal.store.senders(chain.chain_id).await?.into_iter().collect();
    senders.extend(journal.signers.ready().map(|(_, key)| key.address()));
    Ok(senders.into_iter().map(|sender| Lane::new(journal.clone(), chain.clone(), sender)).collect())
}

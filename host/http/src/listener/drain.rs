//! The end of the connections when the listener stops. Rule: a connection ends at the latest with the drain timeout.

use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;

/// How long aborted connections may take to end.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainReport {
    pub finished: usize,
    /// Connections that were still busy when the drain timeout expired.
    pub aborted: usize,
}

pub(crate) async fn drain(mut connections: JoinSet<()>, drain_timeout: Duration) -> DrainReport {
    let open = connections.len();
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            log_panic(ended);
        }
    };
    // After a timeout the set still holds the connections that did not end.
    let _ = timeout(drain_timeout, all_ended).await;
    let aborted = connections.len();
    connections.abort_all();
    // A connection whose thread a plugin holds is never polled again.
    let _ = timeout(ABORT_TIMEOUT, connections.shutdown()).await;
    connections.detach_all();
    let report = DrainReport { finished: open - aborted, aborted };
    tracing::info!(finished = report.finished, aborted = report.aborted, "the HTTP listener has stopped");
    report
}

pub(crate) fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection's task ended badly");
    }
}

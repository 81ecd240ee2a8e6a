//! Indexes blocks that no reorganisation undoes: several ranges are fetched at a time and written in their order.

use super::{
    adaptive_range::AdaptiveRange,
    batch::Batch,
    commit::PendingCommit,
    decode::{DecodedEvent, commit_len, decode},
    error::IndexError,
    event_subscriptions::EventSubscriptions,
    index::Index,
    store::Cursor,
};
use futures_util::{StreamExt as _, stream};
use gateway_chain::{Chain, Header, LogFilter, RangeError};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Ranges that are fetched at a time. The client sends ten requests at a time to one server: two are left for following
/// the head.
const PARALLEL: usize = 8;
/// Responses that wait to be written. What waits after the last response is written by one thread while nothing is
/// fetched.
const RESPONSES_WAITING: usize = 1;
/// How long fetched events wait for more of them, to share a commit.
const WAIT_MAX: Duration = Duration::from_millis(300);

/// The events of a range, and its last block.
type DecodedRange = (Vec<DecodedEvent>, Header);
/// The response for one range, in several parts when servers rejected its size.
type FetchResult = Result<Vec<DecodedRange>, IndexError>;

/// Fetched events that are not yet written.
struct CommitBuffer {
    events: Vec<DecodedEvent>,
    last: Option<Header>,
    since: Instant,
}

impl CommitBuffer {
    fn new() -> Self {
        Self { events: Vec::new(), last: None, since: Instant::now() }
    }

    fn push(&mut self, (mut events, last): DecodedRange) {
        if self.last.replace(last).is_none() {
            self.since = Instant::now();
        }
        self.events.append(&mut events);
    }

    /// About `target` events, in whole blocks. The batch that empties the buffer ends with the last block, even without
    /// events.
    fn take(&mut self, target: usize) -> Option<Batch> {
        let last = self.last?;
        // The same capacity again, so that the buffer is not reallocated while it grows.
        let mut later = Vec::with_capacity(self.events.capacity());
        later.extend(self.events.drain(commit_len(&self.events, target)..));
        let events = std::mem::replace(&mut self.events, later);
        self.since = Instant::now();
        let (number, hash) = match events.last() {
            Some(event) if !self.events.is_empty() => (event.log.block, event.log.block_hash.0.into()),
            _ => {
                self.last = None;
                (last.number, last.hash)
            }
        };
        let cursor = Cursor { next_block: number + 1, hash: Some(hash) };
        Some(Batch { events, cursor, blocks: vec![(number, hash)], is_final: true })
    }
}

impl Index {
    /// Indexes the blocks from the cursor to `to`.
    pub(super) async fn backfill(&mut self, to: u64) -> Result<(), IndexError> {
        let from = self.row.as_ref().ok_or(IndexError::CursorMoved)?.cursor.next_block;
        let fetcher = RangeFetcher {
            chain: self.chain.clone(),
            subscriptions: self.subscriptions.clone(),
            filters: self.filters.clone(),
            range: self.range.clone(),
        };
        let (mut fetched, _task) = Arc::new(fetcher).start(from, to, self.plugin.handle.tasks.clone());
        let mut pending = None;
        let outcome = self.write_ranges(&mut fetched, &mut pending).await;
        // Also after an error: the commit in flight is finished first.
        self.finish_commit(&mut pending).await?;
        outcome
    }

    async fn write_ranges(
        &mut self,
        fetched: &mut mpsc::Receiver<FetchResult>,
        pending: &mut Option<PendingCommit>,
    ) -> Result<(), IndexError> {
        let mut buffer = CommitBuffer::new();
        while let Some(ranges) = fetched.recv().await {
            for range in ranges? {
                buffer.push(range);
                while buffer.events.len() >= self.commit_events || buffer.since.elapsed() > WAIT_MAX {
                    let Some(batch) = buffer.take(self.commit_events) else { break };
                    self.start_commit(batch, pending).await?;
                }
            }
            if self.is_row_poll_due() {
                self.finish_commit(pending).await?;
                // Also renews the lease, and notices requests of operators.
                self.poll_row().await?.ok_or(IndexError::CursorMoved)?;
            }
        }
        while let Some(batch) = buffer.take(self.commit_events) {
            self.start_commit(batch, pending).await?;
        }
        Ok(())
    }
}

/// Fetches the logs of ranges and decodes them.
struct RangeFetcher {
    chain: Arc<Chain>,
    subscriptions: Arc<EventSubscriptions>,
    filters: Vec<LogFilter>,
    range: Arc<AdaptiveRange>,
}

impl RangeFetcher {
    /// Sends the results in order until the handle is dropped. Each range is fetched in its own task, so that its
    /// response is parsed while earlier ranges are written.
    fn start(
        self: Arc<Self>,
        from: u64,
        to: u64,
        tasks: TaskTracker,
    ) -> (mpsc::Receiver<FetchResult>, AbortOnDropHandle<()>) {
        let (sender, receiver) = mpsc::channel(RESPONSES_WAITING);
        let range = self.range.clone();
        let ranges = stream::unfold(from, move |next| {
            let end = next.saturating_add(range.blocks().max(1) - 1).min(to);
            async move { (next <= to).then_some(((next, end), end + 1)) }
        });
        let range_tasks = tasks.clone();
        let fetch_range = move |range| {
            let fetcher = self.clone();
            AbortOnDropHandle::new(range_tasks.spawn(async move { fetcher.fetch(range).await }))
        };
        let task = tasks.spawn(async move {
            let mut results = std::pin::pin!(ranges.map(fetch_range).buffered(PARALLEL));
            while let Some(result) = results.next().await {
                // A task ends early only when the plugin stops.
                let result = result.unwrap_or(Err(IndexError::Stopping));
                let is_last = result.is_err();
                if sender.send(result).await.is_err() || is_last {
                    return;
                }
            }
        });
        (receiver, AbortOnDropHandle::new(task))
    }

    /// Fetches a range, split where servers reject its size.
    async fn fetch(&self, range: (u64, u64)) -> FetchResult {
        let (mut fetched, mut ranges) = (Vec::new(), vec![range]);
        while let Some((from, to)) = ranges.pop() {
            let blocks = to - from + 1;
            match self.chain.logs_in_range(from, to, &self.filters).await {
                Ok((logs, last)) => {
                    self.range.succeeded(blocks, logs.len() as u64);
                    fetched.push((decode(&self.subscriptions, &logs)?, last));
                }
                Err(RangeError::TooLarge(reason)) => {
                    let half = blocks / 2;
                    tracing::debug!(chain = self.chain.name, blocks, %reason, "asking for fewer blocks at a time");
                    self.range.rejected(blocks);
                    ranges.push((from + half, to));
                    ranges.push((from, from + half - 1));
                }
                Err(RangeError::Chain(error)) => return Err(error.into()),
            }
        }
        Ok(fetched)
    }
}

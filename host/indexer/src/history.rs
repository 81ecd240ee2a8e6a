//! The past: blocks that are not taken back any more. Fetched in several ranges at a time, written in their order.

use super::{
    Index, Trouble,
    commit::{Batch, Pending},
    store::Place,
    told::{Told, cut, tell},
};
use futures_util::{StreamExt as _, stream};
use gateway_chain::event::Listening;
use gateway_chain::log::{Filter, RangeError};
use gateway_chain::{Chain, Header};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Ranges that are fetched at a time. A server takes ten requests at a time from us: two are left for whoever follows the head.
const PARALLEL: usize = 8;
/// Answers that wait to be written. What waits when the last one has come is written by one thread, and nothing is fetched.
const ANSWERS_WAITING: usize = 1;
/// Blocks of the first questions. Nobody knows yet how many events they hold, and an answer that holds all of the past leaves
/// nothing to be fetched while it is written.
const FIRST_BLOCKS: u64 = 8;
/// An answer with more events than this makes the next ranges shorter, one with fewer than a quarter longer.
const RANGE_EVENTS: u64 = 2_500;

/// How long events that were fetched wait for more of them, to share a commit.
const WAIT_MAX: Duration = Duration::from_millis(300);
/// How many answers of one length come before a longer range is tried again after a refusal.
const PATIENCE: u64 = 32;

/// What was fetched and is not yet written.
struct Waiting {
    events: Vec<Told>,
    last: Option<Header>,
    since: Instant,
}

impl Waiting {
    fn new() -> Self {
        Self { events: Vec::new(), last: None, since: Instant::now() }
    }

    fn add(&mut self, (mut events, last): Part) {
        if self.last.replace(last).is_none() {
            self.since = Instant::now();
        }
        self.events.append(&mut events);
    }

    /// About so many events, and whole blocks; of the last ones also the blocks without any.
    fn take(&mut self, most: usize) -> Option<Batch> {
        let last = self.last?;
        // With room for as many again, so that it is not moved while it grows.
        let mut later = Vec::with_capacity(self.events.capacity());
        later.extend(self.events.drain(cut(&self.events, most)..));
        let events = std::mem::replace(&mut self.events, later);
        self.since = Instant::now();
        let (number, hash) = match events.last() {
            Some(event) if !self.events.is_empty() => (event.block, event.block_hash),
            _ => {
                self.last = None;
                (last.number, last.hash)
            }
        };
        let to = Place { next: number + 1, hash: Some(hash) };
        Some(Batch { events, to, blocks: vec![(number, hash)], is_final: true })
    }
}

/// Blocks of one question: more while they hold few events, fewer where servers refuse more, and more again later.
pub struct Span {
    blocks: AtomicU64,
    most: u64,
    patience: AtomicU64,
}

impl Span {
    pub fn new(most: u64) -> Self {
        Self { blocks: AtomicU64::new(most.min(FIRST_BLOCKS)), most, patience: AtomicU64::new(0) }
    }

    fn answered(&self, blocks: u64, events: u64) {
        let now = self.blocks.load(Relaxed);
        let waits = self.patience.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
        if events > RANGE_EVENTS {
            // Answers to longer questions of before say nothing new.
            self.blocks.fetch_min((blocks / 2).max(1), Relaxed);
        } else if blocks >= now && events < RANGE_EVENTS / 4 && !waits {
            self.blocks.store(now.saturating_mul(2).min(self.most), Relaxed);
        }
    }

    fn refused(&self, blocks: u64) {
        self.blocks.fetch_min((blocks / 2).max(1), Relaxed);
        self.patience.store(PATIENCE, Relaxed);
    }
}

/// The events of a range, and its last block.
type Part = (Vec<Told>, Header);
/// The answer for one range.
type Fetched = Result<Vec<Part>, Trouble>;

impl Index {
    pub(super) async fn history(&mut self, to: u64) -> Result<(), Trouble> {
        let from = self.known.as_ref().ok_or(Trouble::Moved)?.place.next;
        let fetch = Fetch {
            chain: self.chain.clone(),
            listening: self.listening.clone(),
            filter: self.filter.clone(),
            span: self.span.clone(),
        };
        let (mut fetched, _fetching) = Arc::new(fetch).begin(from, to, self.plugin.handle.tasks.clone());
        let mut pending = None;
        let outcome = self.write_all(&mut fetched, &mut pending).await;
        // Also when what comes next is in trouble.
        self.end_commit(&mut pending).await?;
        outcome
    }

    async fn write_all(
        &mut self,
        fetched: &mut mpsc::Receiver<Fetched>,
        pending: &mut Option<Pending>,
    ) -> Result<(), Trouble> {
        let mut waiting = Waiting::new();
        while let Some(parts) = fetched.recv().await {
            for part in parts? {
                waiting.add(part);
                while waiting.events.len() >= self.commit_events || waiting.since.elapsed() > WAIT_MAX {
                    let Some(batch) = waiting.take(self.commit_events) else { break };
                    self.begin_commit(batch, pending).await?;
                }
            }
            if self.is_look_due() {
                self.end_commit(pending).await?;
                // Also renews the lease, and hears of operators.
                self.look().await?.ok_or(Trouble::Moved)?;
            }
        }
        while let Some(batch) = waiting.take(self.commit_events) {
            self.begin_commit(batch, pending).await?;
        }
        Ok(())
    }
}

/// Asks for the events of ranges and puts them into the words of the plugin.
struct Fetch {
    chain: Arc<Chain>,
    listening: Arc<Listening>,
    filter: Filter,
    span: Arc<Span>,
}

impl Fetch {
    /// Answers come in their order, until the handle is dropped. Tasks of their own ask for them, so that they are read while
    /// what came before them is written.
    fn begin(
        self: Arc<Self>,
        from: u64,
        to: u64,
        tasks: TaskTracker,
    ) -> (mpsc::Receiver<Fetched>, AbortOnDropHandle<()>) {
        let (send, receive) = mpsc::channel(ANSWERS_WAITING);
        let span = self.span.clone();
        let ranges = stream::unfold(from, move |next| {
            let end = next.saturating_add(span.blocks.load(Relaxed).max(1) - 1).min(to);
            async move { (next <= to).then_some(((next, end), end + 1)) }
        });
        let tasks_of_ranges = tasks.clone();
        let fetch_range = move |range| {
            let fetch = self.clone();
            AbortOnDropHandle::new(tasks_of_ranges.spawn(async move { fetch.range(range).await }))
        };
        let fetching = tasks.spawn(async move {
            let mut fetched = std::pin::pin!(ranges.map(fetch_range).buffered(PARALLEL));
            while let Some(parts) = fetched.next().await {
                // A task ends early only when the plugin stops.
                let parts = parts.unwrap_or(Err(Trouble::Closing));
                let is_last = parts.is_err();
                if send.send(parts).await.is_err() || is_last {
                    return;
                }
            }
        });
        (receive, AbortOnDropHandle::new(fetching))
    }

    /// In parts where servers want smaller questions.
    async fn range(&self, range: (u64, u64)) -> Fetched {
        let (mut parts, mut todo) = (Vec::new(), vec![range]);
        while let Some((from, to)) = todo.pop() {
            let blocks = to - from + 1;
            match self.chain.logs_between(from, to, &self.filter).await {
                Ok((logs, last)) => {
                    self.span.answered(blocks, logs.len() as u64);
                    parts.push((tell(&self.listening, &logs)?, last));
                }
                Err(RangeError::TooMuch(reason)) => {
                    let half = blocks / 2;
                    tracing::debug!(chain = self.chain.name, blocks, %reason, "asking for fewer blocks at a time");
                    self.span.refused(blocks);
                    todo.push((from + half, to));
                    todo.push((from, from + half - 1));
                }
                Err(RangeError::Chain(error)) => return Err(error.into()),
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(span: &Span) -> u64 {
        span.blocks.load(Relaxed)
    }

    #[test]
    fn questions_begin_short_and_get_longer_while_they_hold_few_events() {
        let span = Span::new(20);
        assert_eq!(asked(&span), 8);
        span.answered(8, 10);
        assert_eq!(asked(&span), 16);
        span.answered(8, 10);
        assert_eq!(asked(&span), 16, "the answer to a shorter question says nothing new");
        span.answered(16, 0);
        assert_eq!(asked(&span), 20, "the most that is configured");
        assert_eq!(asked(&Span::new(3)), 3);
    }

    #[test]
    fn questions_get_shorter_when_they_hold_many_events_and_no_late_answer_makes_them_longer() {
        let span = Span::new(2000);
        span.blocks.store(16, Relaxed);
        span.answered(16, RANGE_EVENTS + 1);
        span.answered(8, RANGE_EVENTS + 1);
        assert_eq!(asked(&span), 4);
        span.answered(16, RANGE_EVENTS + 1);
        assert_eq!(asked(&span), 4);
        span.answered(1, RANGE_EVENTS + 1);
        assert_eq!(asked(&span), 1, "a block is the least");
        span.refused(1);
        assert_eq!(asked(&span), 1);
        (0..=PATIENCE).for_each(|_| span.answered(1, 0));
        assert_eq!(asked(&span), 2, "after a refusal only with patience");
    }
}

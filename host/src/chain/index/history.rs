//! The past: blocks that are not taken back any more. Fetched in several ranges at a time, written in their order.

use super::{
    Index, Trouble,
    commit::{Batch, cut},
    store::Place,
};
use crate::chain::{
    Chain, ChainError, Header,
    log::{Filter, RangeError, RawLog},
};
use futures_util::{StreamExt as _, stream};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};
use tokio_util::task::AbortOnDropHandle;

/// Ranges that are fetched at a time.
const PARALLEL: usize = 4;
/// Blocks of the first questions. Nobody knows yet how many events they hold, and an answer that holds all of the past leaves
/// nothing to be fetched while it is written.
const FIRST_BLOCKS: u64 = 8;
/// An answer with more events than this makes the next ranges shorter, one with fewer than a quarter longer.
const RANGE_EVENTS: u64 = 5_000;

/// How long events that were fetched wait for more of them, to share a commit.
const WAIT_MAX: Duration = Duration::from_millis(300);
/// How many answers of one length come before a longer range is tried again after a refusal.
const PATIENCE: u64 = 32;

/// What was fetched and is not yet written.
struct Waiting {
    logs: Vec<RawLog>,
    last: Option<Header>,
    since: Instant,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { logs: Vec::new(), last: None, since: Instant::now() }
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
type Part = (Vec<RawLog>, Header);

impl Index {
    pub(super) async fn history(&mut self, to: u64) -> Result<(), Trouble> {
        let from = self.known.as_ref().ok_or(Trouble::Moved)?.place.next;
        let span = self.span.clone();
        let ranges = stream::unfold(from, |next| {
            let end = next.saturating_add(span.blocks.load(Relaxed).max(1) - 1).min(to);
            async move { (next <= to).then_some(((next, end), end + 1)) }
        });
        // Tasks of their own, so that answers are read while what came before them is written.
        let tasks = self.plugin.life.tasks.clone();
        let (chain, filter, span) = (self.chain.clone(), self.filter.clone(), self.span.clone());
        let fetch_range = |range| {
            let (chain, filter, span) = (chain.clone(), filter.clone(), span.clone());
            AbortOnDropHandle::new(tasks.spawn(async move { fetch(&chain, &filter, range, &span).await }))
        };
        let fetched = ranges.map(fetch_range).buffered(PARALLEL);
        let mut fetched = std::pin::pin!(fetched);
        let mut waiting = Waiting::default();
        while let Some(parts) = fetched.next().await {
            // A task ends early only when the plugin stops.
            for (mut logs, last) in parts.map_err(|_| Trouble::Closing)?? {
                waiting.logs.append(&mut logs);
                waiting.last = Some(last);
                if waiting.logs.len() >= self.commit_events || waiting.since.elapsed() > WAIT_MAX {
                    self.write(std::mem::take(&mut waiting)).await?;
                }
            }
            // Also renews the lease, and hears of operators.
            self.look().await?.ok_or(Trouble::Moved)?;
        }
        self.write(waiting).await
    }

    async fn write(&mut self, waiting: Waiting) -> Result<(), Trouble> {
        let Some(last) = waiting.last else { return Ok(()) };
        let mut rest = waiting.logs.as_slice();
        loop {
            let (now, later) = rest.split_at(cut(rest, self.commit_events));
            let (number, hash) = match now.last() {
                Some(log) if !later.is_empty() => (log.block_number.to(), log.block_hash),
                _ => (last.number, last.hash),
            };
            let known = self.known.clone().ok_or(Trouble::Moved)?;
            let to = Place { next: number + 1, hash: Some(hash) };
            self.commit(&known, Batch { logs: now, to, blocks: vec![(number, hash)], is_final: true }).await?;
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

/// The events of a range, in parts where servers want smaller questions.
async fn fetch(chain: &Chain, filter: &Filter, range: (u64, u64), span: &Span) -> Result<Vec<Part>, ChainError> {
    let (mut parts, mut todo) = (Vec::new(), vec![range]);
    while let Some((from, to)) = todo.pop() {
        let blocks = to - from + 1;
        match chain.logs_between(from, to, filter).await {
            Ok(part) => {
                span.answered(blocks, part.0.len() as u64);
                parts.push(part);
            }
            Err(RangeError::TooMuch(reason)) => {
                let half = blocks / 2;
                tracing::debug!(chain = chain.name, blocks, %reason, "asking for fewer blocks at a time");
                span.refused(blocks);
                todo.push((from + half, to));
                todo.push((from, from + half - 1));
            }
            Err(RangeError::Chain(error)) => return Err(error),
        }
    }
    Ok(parts)
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

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
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Ranges that are fetched at a time.
const PARALLEL: usize = 4;
/// An answer with more events than this makes the next ranges shorter, one with fewer than a quarter longer.
const RANGE_EVENTS: usize = 10_000;

/// The events of a range, and its last block.
type Part = (Vec<RawLog>, Header);

impl Index {
    pub(super) async fn history(&mut self, to: u64) -> Result<(), Trouble> {
        let from = self.known.as_ref().ok_or(Trouble::Moved)?.place.next;
        let (chain, filter, span) = (self.chain.clone(), self.filter.clone(), self.span.clone());
        let most = chain.settings.range_blocks_max;
        let ranges = stream::unfold(from, |next| {
            let end = next.saturating_add(span.load(Relaxed).max(1) - 1).min(to);
            async move { (next <= to).then_some(((next, end), end + 1)) }
        });
        let fetched = ranges.map(|(from, to)| fetch(&chain, &filter, (from, to), &span, most)).buffered(PARALLEL);
        let mut fetched = std::pin::pin!(fetched);
        let mut skipped = None;
        while let Some(parts) = fetched.next().await {
            for (logs, last) in parts? {
                skipped = if logs.is_empty() { Some(last) } else { self.write(&logs, last).await.map(|()| None)? };
            }
            // Also renews the lease, and hears of operators.
            self.look().await?.ok_or(Trouble::Moved)?;
        }
        match skipped {
            Some(last) => self.write(&[], last).await,
            None => Ok(()),
        }
    }

    async fn write(&mut self, logs: &[RawLog], last: Header) -> Result<(), Trouble> {
        let mut rest = logs;
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
async fn fetch(
    chain: &Chain,
    filter: &Filter,
    range: (u64, u64),
    span: &Arc<AtomicU64>,
    most: u64,
) -> Result<Vec<Part>, ChainError> {
    let (mut parts, mut todo) = (Vec::new(), vec![range]);
    while let Some((from, to)) = todo.pop() {
        let blocks = to - from + 1;
        match chain.logs_between(from, to, filter).await {
            Ok(part) => {
                let now = span.load(Relaxed);
                if part.0.len() > RANGE_EVENTS {
                    span.store((blocks / 2).max(1), Relaxed);
                } else if blocks >= now && part.0.len() < RANGE_EVENTS / 4 {
                    span.store(now.saturating_mul(2).min(most), Relaxed);
                }
                parts.push(part);
            }
            Err(RangeError::TooMuch(reason)) => {
                let half = blocks / 2;
                tracing::debug!(chain = chain.name, blocks, %reason, "asking for fewer blocks at a time");
                span.fetch_min(half, Relaxed);
                todo.push((from + half, to));
                todo.push((from, from + half - 1));
            }
            Err(RangeError::Chain(error)) => return Err(error),
        }
    }
    Ok(parts)
}

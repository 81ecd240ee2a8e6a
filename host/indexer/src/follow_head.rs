//! Indexes the newest blocks, which a reorganisation may undo. Their headers are requested by number, and the logs of each block by
//! its hash.

use super::{
    batch::Batch,
    decode::{DecodedEvent, decode},
    error::IndexError,
    index::Index,
    store::{Cursor, IndexRow},
};
use gateway_chain::Header;

/// Blocks of one tick.
const BLOCKS_MAX: u64 = 64;

/// When the next tick starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextTick {
    Now,
    /// When the head changes.
    OnNewHead,
    /// The same, or after a moment. The index got no further, for the reason that its report has.
    Blocked,
}

impl Index {
    pub(super) async fn follow_head(&mut self, row: &IndexRow, head: Header) -> Result<NextTick, IndexError> {
        let next = row.cursor.next_block;
        if head.number < next {
            return self.check_lower_head(row, head).await;
        }
        let to = head.number.min(next + BLOCKS_MAX - 1);
        let headers = match row.cursor.hash {
            Some(hash) if to == next && head.parent_hash == hash => vec![head],
            _ => self.chain.headers(&(next..=to).collect::<Vec<_>>()).await?,
        };
        let Some(first) = headers.first() else { return Ok(NextTick::OnNewHead) };
        if row.cursor.hash.is_some_and(|hash| hash != first.parent_hash) {
            self.reorganise(row).await?;
            return Ok(NextTick::Now);
        }
        // When a server changes its branch between two responses, the blocks after that are requested again in the next
        // tick.
        let linked = 1 + headers.windows(2).take_while(|pair| pair[1].parent_hash == pair[0].hash).count();
        let headers = &headers[..linked];
        let logs = self.chain.logs_of_blocks(headers, &self.filters).await?;
        self.commit_blocks(headers, decode(&self.subscriptions, &logs)?).await?;
        Ok(NextTick::Now)
    }

    /// Commits as many blocks at a time as have `commit_events` events, and at least one.
    async fn commit_blocks(&mut self, headers: &[Header], events: Vec<DecodedEvent>) -> Result<(), IndexError> {
        let (mut headers, mut rest_events) = (headers, events);
        while !headers.is_empty() {
            let (mut blocks, mut count) = (0, 0);
            for header in headers {
                let rest = rest_events[count..].iter();
                let in_block = rest.take_while(|event| event.log.block_hash.0 == header.hash.0).count();
                if blocks > 0 && count + in_block > self.commit_events {
                    break;
                }
                (blocks, count) = (blocks + 1, count + in_block);
            }
            let (committed, later) = headers.split_at(blocks);
            let Some(last) = committed.last() else { return Ok(()) };
            let later_events = rest_events.split_off(count);
            let batch = Batch {
                events: std::mem::replace(&mut rest_events, later_events),
                cursor: Cursor { next_block: last.number + 1, hash: Some(last.hash) },
                blocks: committed.iter().map(|header| (header.number, header.hash)).collect(),
                is_final: false,
            };
            self.commit(batch).await?;
            headers = later;
        }
        Ok(())
    }

    /// The head is a block that was indexed, or a block of another branch with the same number.
    async fn check_lower_head(&mut self, row: &IndexRow, head: Header) -> Result<NextTick, IndexError> {
        let indexed = if head.number + 1 == row.cursor.next_block {
            row.cursor.hash
        } else {
            let recent = self.store.recent_blocks().await?;
            recent.into_iter().find(|(block, _)| *block == head.number).map(|(_, hash)| hash)
        };
        match indexed {
            Some(hash) if hash == head.hash => Ok(NextTick::OnNewHead),
            Some(_) => {
                self.reorganise(row).await?;
                Ok(NextTick::Now)
            }
            None => {
                let reason = format!(
                    "the chain's newest block is {}, and blocks up to {} are indexed",
                    head.number,
                    row.cursor.next_block.saturating_sub(1)
                );
                self.progress.set_failing(&reason);
                Ok(NextTick::Blocked)
            }
        }
    }
}

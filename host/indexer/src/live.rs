//! The newest blocks: those that a reorganisation may take back. One by one, by their names.

use super::{
    Index, Pace, Trouble,
    commit::Batch,
    store::{Known, Place},
    told::{Told, tell},
};
use gateway_chain::Header;

/// Blocks of one commit.
const BLOCKS_MAX: u64 = 64;

impl Index {
    pub(super) async fn live(&mut self, known: &Known, head: Header) -> Result<Pace, Trouble> {
        let next = known.place.next;
        if head.number < next {
            return self.compare_tip(known, head).await;
        }
        let to = head.number.min(next + BLOCKS_MAX - 1);
        let headers = match known.place.hash {
            Some(hash) if to == next && head.parent == hash => vec![head],
            _ => self.chain.headers(&(next..=to).collect::<Vec<_>>()).await?,
        };
        let Some(first) = headers.first() else { return Ok(Pace::Wait) };
        if known.place.hash.is_some_and(|hash| hash != first.parent) {
            self.reorganise(known).await?;
            return Ok(Pace::More);
        }
        // A server that changes its branch between two answers: what follows is asked again.
        let linked = 1 + headers.windows(2).take_while(|pair| pair[1].parent == pair[0].hash).count();
        let headers = &headers[..linked];
        let logs = self.chain.logs_of(headers, &self.filter).await?;
        self.write_live(headers, tell(&self.listening, &logs)?).await?;
        Ok(Pace::More)
    }

    /// As many blocks a commit as fit its time.
    async fn write_live(&mut self, headers: &[Header], mut later: Vec<Told>) -> Result<(), Trouble> {
        let mut headers = headers;
        while !headers.is_empty() {
            let (mut blocks, mut count) = (0, 0);
            for header in headers {
                let of_block = later[count..].iter().take_while(|event| event.block_hash == header.hash).count();
                if blocks > 0 && count + of_block > self.commit_events {
                    break;
                }
                (blocks, count) = (blocks + 1, count + of_block);
            }
            let (now, rest) = headers.split_at(blocks);
            let Some(last) = now.last() else { return Ok(()) };
            let after = later.split_off(count);
            let batch = Batch {
                events: std::mem::replace(&mut later, after),
                to: Place { next: last.number + 1, hash: Some(last.hash) },
                blocks: now.iter().map(|header| (header.number, header.hash)).collect(),
                is_final: false,
            };
            self.commit(batch).await?;
            headers = rest;
        }
        Ok(())
    }

    /// The head is a block that was indexed, or one of another branch at its place.
    async fn compare_tip(&mut self, known: &Known, head: Header) -> Result<Pace, Trouble> {
        let ours = if head.number + 1 == known.place.next {
            known.place.hash
        } else {
            let window = self.store.window().await?;
            window.into_iter().find(|(block, _)| *block == head.number).map(|(_, hash)| hash)
        };
        match ours {
            Some(hash) if hash == head.hash => Ok(Pace::Wait),
            Some(_) => {
                self.reorganise(known).await?;
                Ok(Pace::More)
            }
            None => {
                let reason = format!(
                    "the chain's newest block is {}, and blocks up to {} are indexed",
                    head.number,
                    known.place.next.saturating_sub(1)
                );
                self.progress.fails(&reason);
                Ok(Pace::Wait)
            }
        }
    }
}

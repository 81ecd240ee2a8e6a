//! Somebody else used a nonce of ours.
//!
//! The rule: an intent gets another nonce only when the transaction that used the old one is known by its hash, is none of
//! the intent's own, and is in a block that will not be undone, by the word of every server. That no receipt is found proves
//! nothing.

use super::{
    Trouble,
    lane::{Lane, Turn},
    row::IntentRow,
};
use alloy_primitives::B256;
use gateway_chain::account::{SCAN_BLOCKS_MAX, Usage};
use plugin_api::manifest::TxState;

/// Questions of one turn.
const QUESTIONS_MAX: u32 = 8;
/// How much further back each search goes than the one before.
const FURTHER: u64 = 4;

/// Blocks are looked through upwards; when that found nobody, from further back.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    first: u64,
    next: u64,
    /// The newest block when the loss was noticed, and as many as a reorganisation may move it: the user is not above it.
    highest: u64,
}

impl Search {
    fn new(signed_at: u64, noticed: u64, depth: u64) -> Self {
        let first = signed_at.saturating_sub(depth);
        Self { first, next: first, highest: noticed.saturating_add(depth) }
    }

    fn further(self) -> Self {
        let length = self.highest.saturating_sub(self.first).max(1);
        let first = self.first.saturating_sub(length.saturating_mul(FURTHER));
        Self { first, next: first, ..self }
    }
}

impl Lane {
    /// The account is past the nonce of this intent, and none of its transactions has a receipt.
    pub(super) async fn taken(&mut self, turn: &Turn, intent: &mut IntentRow) -> Result<(), Trouble> {
        let attempts = turn.attempts_of(intent);
        let signed_at = attempts.first().map_or(turn.account.block, |attempt| attempt.block.unsigned_abs());
        let ours: Vec<B256> = attempts.iter().map(|attempt| attempt.hash).collect();
        let new = Search::new(signed_at, turn.account.block, self.chain.settings.reorg_depth);
        let search = *self.searches.entry(intent.id).or_insert(new);
        let (search, usage) = self.search(search, intent.nonce(), turn.account.block).await?;
        self.searches.insert(intent.id, search);
        let reason = match usage {
            Some(usage) if ours.contains(&usage.hash) => {
                // It is in a block; the search begins anew should the block go.
                self.searches.remove(&intent.id);
                format!("it is in block {}, and no RPC server tells what came of it", usage.block)
            }
            Some(usage) => match self.chain.agreed_usage(self.sender, intent.nonce(), usage.block).await {
                Some(agreed) if agreed == usage => return self.lose_nonce(turn, intent, usage).await,
                _ => "the RPC servers do not agree on which transaction used its nonce".to_owned(),
            },
            None => format!("another transaction used its nonce {}; waiting until that is final", intent.nonce()),
        };
        self.store().explain(intent, &reason).await
    }

    /// Goes on through the blocks that will not be undone.
    async fn search(&self, search: Search, nonce: u64, head: u64) -> Result<(Search, Option<Usage>), Trouble> {
        let (mut search, last) = (search, self.chain.final_number(head));
        for _ in 0..QUESTIONS_MAX {
            if search.next > search.highest && search.first > 0 {
                search = search.further();
            }
            if search.next > last {
                break;
            }
            let to = last.min(search.next + SCAN_BLOCKS_MAX - 1);
            if let Some(usage) = self.chain.usage(self.sender, nonce, search.next, to).await? {
                // Found again at the next turn, should the servers disagree.
                search.next = usage.block;
                return Ok((search, Some(usage)));
            }
            search.next = to + 1;
        }
        Ok((search, None))
    }

    async fn lose_nonce(&mut self, turn: &Turn, intent: &mut IntentRow, usage: Usage) -> Result<(), Trouble> {
        let nonce = intent.nonce();
        tracing::warn!(
            intent = intent.id, nonce, by = %usage.hash, sender = %self.sender,
            "somebody else sends with this key: the transaction gets another nonce"
        );
        let reason = format!("its nonce {nonce} was used by another transaction, {}", usage.hash);
        self.store().queue_again(intent, &reason, turn.now_ms).await?;
        self.searches.remove(&intent.id);
        intent.state = TxState::Queued;
        Ok(())
    }
}

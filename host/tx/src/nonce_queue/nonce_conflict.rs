//! What happens when a transaction from outside the journal used a nonce of an intent.
//!
//! The rule: an intent gets another nonce only when the transaction that used the old one is known by its hash, is none
//! of the intent's own, and is in a block that will not be undone, as the servers agree. A missing receipt proves nothing.

use super::{nonce_search::NonceSearch, pass::Pass, queue::NonceQueue};
use crate::{error::PassError, row::IntentRow, store::HOST};
use alloy_primitives::B256;
use gateway_chain::{NoAgreement, NonceUse, SCAN_BLOCKS_MAX};
use plugin_api::manifest::TxState;

const SCANS_PER_PASS_MAX: u32 = 8;

impl NonceQueue {
    /// Called when the account's next nonce is above that of this intent, and none of its transactions has a receipt.
    pub(super) async fn resolve_nonce_conflict(
        &mut self,
        pass: &Pass,
        intent: &mut IntentRow,
    ) -> Result<(), PassError> {
        let attempts = pass.attempts_of(intent);
        let signed_at = attempts.first().map_or(pass.account.block, |attempt| attempt.block.unsigned_abs());
        let own_hashes: Vec<B256> = attempts.iter().map(|attempt| attempt.hash).collect();
        let new = NonceSearch::new(signed_at, pass.account.block, self.chain.settings.reorg_depth);
        let search = *self.nonce_searches.entry(intent.id).or_insert(new);
        let (search, usage) = self.scan_blocks(search, intent.nonce(), pass.account.block).await?;
        self.nonce_searches.insert(intent.id, search);
        let reason = match usage {
            Some(usage) if own_hashes.contains(&usage.hash) => {
                // If a reorganisation removes the block, the search starts again from the beginning.
                self.nonce_searches.remove(&intent.id);
                format!("it is in block {}, and no RPC server tells what came of it", usage.block)
            }
            Some(usage) => match self.chain.agreed_nonce_use(self.sender, intent.nonce(), usage.block).await {
                Ok(agreed) if agreed == usage => return self.requeue(pass, intent, usage).await,
                Ok(_) => format!("{} on which transaction used its nonce", NoAgreement::Different),
                Err(error) => format!("{error} on which transaction used its nonce"),
            },
            None => format!("another transaction used its nonce {}; waiting until that is final", intent.nonce()),
        };
        self.set_reason(intent, &reason).await
    }

    /// Continues the search in the blocks that will not be undone.
    async fn scan_blocks(
        &self,
        mut search: NonceSearch,
        nonce: u64,
        head: u64,
    ) -> Result<(NonceSearch, Option<NonceUse>), PassError> {
        let last = self.chain.final_number(head);
        for _ in 0..SCANS_PER_PASS_MAX {
            if search.next > search.highest && search.first > 0 {
                search = search.extend_back();
            }
            if search.next > last {
                break;
            }
            let to = last.min(search.next + SCAN_BLOCKS_MAX - 1);
            if let Some(usage) = self.chain.nonce_use(self.sender, nonce, search.next, to).await? {
                // If the servers disagree, the next pass finds it here again.
                search.next = usage.block;
                return Ok((search, Some(usage)));
            }
            search.next = to + 1;
        }
        Ok((search, None))
    }

    async fn requeue(&mut self, pass: &Pass, intent: &mut IntentRow, usage: NonceUse) -> Result<(), PassError> {
        let nonce = intent.nonce();
        let reason = format!("its nonce {nonce} was used by another transaction, {}", usage.hash);
        self.nonce_searches.remove(&intent.id);
        if intent.plugin == HOST {
            // It was to use this nonce and nothing else.
            self.store().finish(intent, Some(&reason), pass.now_ms).await?;
            intent.state = TxState::Failed;
            return Ok(());
        }
        tracing::warn!(
            intent = intent.id, nonce, by = %usage.hash, sender = %self.sender,
            "somebody else sends with this key: the transaction gets another nonce"
        );
        self.store().requeue(intent, &reason, pass.now_ms).await?;
        intent.state = TxState::Queued;
        Ok(())
    }
}

//! Which signed transactions are in a block, which blocks the chain still has, and which are final.

use super::{pass::Pass, queue::NonceQueue};
use crate::{error::PassError, failure, row::IntentRow};
use alloy_primitives::B256;
use gateway_chain::{NoAgreement, Receipt};
use plugin_api::manifest::TxState;
use std::collections::HashMap;

impl NonceQueue {
    pub(super) async fn confirm(&mut self, pass: &mut Pass) -> Result<(), PassError> {
        let canonical_hashes = self.canonical_hashes(pass).await?;
        let mut signed = std::mem::take(&mut pass.signed);
        for intent in &mut signed {
            match intent.state {
                TxState::Included => self.confirm_included(pass, intent, &canonical_hashes).await?,
                TxState::Signed | TxState::Sent if intent.nonce() < pass.account.next_nonce => {
                    if let Some(receipt) = self.receipt(pass, intent).await? {
                        self.mark_included(pass, intent, &receipt).await?;
                    } else {
                        self.resolve_nonce_conflict(pass, intent).await?;
                    }
                }
                _ => {
                    self.nonce_searches.remove(&intent.id);
                }
            }
        }
        pass.signed = signed;
        Ok(())
    }

    /// The hashes that the chain now has for the blocks in which intents were included, by block number.
    async fn canonical_hashes(&self, pass: &Pass) -> Result<HashMap<i64, B256>, PassError> {
        let mut blocks: Vec<i64> = pass.signed.iter().filter_map(|intent| intent.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let numbers: Vec<u64> = blocks.iter().map(|block| block.unsigned_abs()).collect();
        let hashes = self.chain.block_hashes(&numbers).await?;
        Ok(blocks.into_iter().zip(hashes).filter_map(|(block, hash)| Some((block, hash?))).collect())
    }

    async fn confirm_included(
        &mut self,
        pass: &Pass,
        intent: &mut IntentRow,
        canonical_hashes: &HashMap<i64, B256>,
    ) -> Result<(), PassError> {
        let (Some(block), Some(block_hash)) = (intent.block, intent.block_hash) else { return Ok(()) };
        // The server does not have the block yet.
        let Some(canonical_hash) = canonical_hashes.get(&block) else { return Ok(()) };
        if *canonical_hash != block_hash {
            return match self.receipt(pass, intent).await? {
                Some(receipt) => self.mark_included(pass, intent, &receipt).await,
                None => {
                    tracing::info!(intent = intent.id, block, "the block of a transaction was taken back");
                    self.store().mark_reorganised(intent, pass.now_ms).await?;
                    (intent.state, intent.block) = (TxState::Signed, None);
                    Ok(())
                }
            };
        }
        if block.unsigned_abs() > self.chain.final_number(pass.account.block) {
            return Ok(());
        }
        self.finalize(pass, intent).await
    }

    /// The receipt of one of the intent's transactions, if it is in a block that the chain still has.
    async fn receipt(&self, pass: &Pass, intent: &IntentRow) -> Result<Option<Receipt>, PassError> {
        let hashes: Vec<B256> = pass.attempts_of(intent).iter().map(|attempt| attempt.hash).collect();
        let receipts = self.chain.receipts(&hashes).await?;
        let Some(receipt) = receipts.into_iter().flatten().next() else { return Ok(None) };
        let canonical_hash = self.chain.block_hashes(&[receipt.block()]).await?;
        Ok((canonical_hash.first() == Some(&Some(receipt.block_hash))).then_some(receipt))
    }

    async fn mark_included(&mut self, pass: &Pass, intent: &mut IntentRow, receipt: &Receipt) -> Result<(), PassError> {
        let cancel_reason = cancel_reason(pass, intent, receipt.transaction_hash);
        self.store().mark_included(intent, receipt, cancel_reason, pass.now_ms).await?;
        self.nonce_searches.remove(&intent.id);
        intent.state = TxState::Included;
        let (block, hash) = (receipt.block(), receipt.transaction_hash);
        tracing::info!(intent = intent.id, plugin = intent.plugin, block, %hash, "a transaction is in a block");
        Ok(())
    }

    /// The block will not be undone. The servers must agree on the outcome, because money depends on it.
    async fn finalize(&mut self, pass: &Pass, intent: &mut IntentRow) -> Result<(), PassError> {
        let Some(hash) = intent.hash else { return Ok(()) };
        let receipt = self.chain.agreed_receipt(hash).await;
        let (cancel_reason, succeeded) = (cancel_reason(pass, intent, hash), intent.succeeded == Some(1));
        let is_same_outcome = |receipt: &Receipt| {
            Some(receipt.block_hash) == intent.block_hash
                && (cancel_reason.is_some() || receipt.succeeded() == succeeded)
        };
        let disagreement = match &receipt {
            Ok(receipt) if is_same_outcome(receipt) => None,
            Ok(_) => Some(NoAgreement::Different),
            Err(error) => Some(*error),
        };
        if let Some(disagreement) = disagreement {
            return self.set_reason(intent, &format!("{disagreement} on what came of it")).await;
        }
        let reverted = || failure::reverted(intent.block.unwrap_or_default());
        let failure = cancel_reason.map_or_else(reverted, str::to_owned);
        self.store().finish(intent, (!succeeded).then_some(&failure), pass.now_ms).await?;
        intent.state = if succeeded { TxState::Final } else { TxState::Failed };
        Ok(())
    }
}

/// Why the transaction with this hash cancels the intent; None when it carries the intent out.
fn cancel_reason<'t>(pass: &'t Pass, intent: &IntentRow, hash: B256) -> Option<&'t str> {
    let attempt = pass.attempts.iter().find(|attempt| attempt.intent == intent.id && attempt.hash == hash)?;
    attempt.cancel_reason.as_deref()
}

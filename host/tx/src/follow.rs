//! Which transactions are in a block, and which blocks stay.

use super::{
    Trouble,
    lane::{Lane, Turn},
    row::IntentRow,
};
use alloy_primitives::B256;
use gateway_chain::account::Receipt;
use plugin_api::manifest::TxState;
use std::collections::HashMap;

impl Lane {
    pub(super) async fn follow(&mut self, turn: &mut Turn) -> Result<(), Trouble> {
        let names = self.names(turn).await?;
        let mut signed = std::mem::take(&mut turn.signed);
        for intent in &mut signed {
            match intent.state {
                TxState::Included => self.follow_included(turn, intent, &names).await?,
                TxState::Signed | TxState::Sent if intent.nonce() < turn.account.count => {
                    if let Some(receipt) = self.receipt(turn, intent).await? {
                        self.include(turn, intent, &receipt).await?;
                    } else {
                        self.taken(turn, intent).await?;
                    }
                }
                _ => {
                    self.searches.remove(&intent.id);
                }
            }
        }
        turn.signed = signed;
        Ok(())
    }

    /// The present names of the blocks that intents were included in.
    async fn names(&self, turn: &Turn) -> Result<HashMap<i64, B256>, Trouble> {
        let mut blocks: Vec<i64> = turn.signed.iter().filter_map(|intent| intent.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let numbers: Vec<u64> = blocks.iter().map(|block| block.unsigned_abs()).collect();
        let names = self.chain.block_hashes(&numbers).await?;
        Ok(blocks.into_iter().zip(names).filter_map(|(block, name)| Some((block, name?))).collect())
    }

    async fn follow_included(
        &mut self,
        turn: &Turn,
        intent: &mut IntentRow,
        names: &HashMap<i64, B256>,
    ) -> Result<(), Trouble> {
        let (Some(block), Some(block_hash)) = (intent.block, intent.block_hash) else { return Ok(()) };
        // A server that does not have the block yet says nothing about it.
        let Some(name) = names.get(&block) else { return Ok(()) };
        if *name != block_hash {
            return match self.receipt(turn, intent).await? {
                Some(receipt) => self.include(turn, intent, &receipt).await,
                None => {
                    tracing::info!(intent = intent.id, block, "the block of a transaction was taken back");
                    self.store().taken_back(intent, turn.now_ms).await?;
                    (intent.state, intent.block) = (TxState::Signed, None);
                    Ok(())
                }
            };
        }
        if block.unsigned_abs() > self.chain.final_number(turn.account.block) {
            return Ok(());
        }
        self.settle(turn, intent).await
    }

    /// The receipt of one of its transactions, in a block that the chain has.
    async fn receipt(&self, turn: &Turn, intent: &IntentRow) -> Result<Option<Receipt>, Trouble> {
        let hashes: Vec<B256> = turn.attempts_of(intent).iter().map(|attempt| attempt.hash).collect();
        let receipts = self.chain.receipts(&hashes).await?;
        let Some(receipt) = receipts.into_iter().flatten().next() else { return Ok(None) };
        let names = self.chain.block_hashes(&[receipt.block()]).await?;
        Ok((names.first() == Some(&Some(receipt.block_hash))).then_some(receipt))
    }

    async fn include(&mut self, turn: &Turn, intent: &mut IntentRow, receipt: &Receipt) -> Result<(), Trouble> {
        let given_up = given_up(turn, intent, receipt.transaction_hash);
        self.store().included(intent, receipt, given_up, turn.now_ms).await?;
        self.searches.remove(&intent.id);
        intent.state = TxState::Included;
        let (block, hash) = (receipt.block(), receipt.transaction_hash);
        tracing::info!(intent = intent.id, plugin = intent.plugin, block, %hash, "a transaction is in a block");
        Ok(())
    }

    /// Its block will not be undone. What came of it there must be told by all servers alike: it decides about money.
    async fn settle(&mut self, turn: &Turn, intent: &mut IntentRow) -> Result<(), Trouble> {
        let Some(hash) = intent.hash else { return Ok(()) };
        let receipt = self.chain.agreed_receipt(hash).await;
        let (given_up, succeeded) = (given_up(turn, intent, hash), intent.succeeded == Some(1));
        let is_agreed = receipt.is_some_and(|receipt| {
            let is_outcome = given_up.is_some() || receipt.succeeded() == succeeded;
            Some(receipt.block_hash) == intent.block_hash && is_outcome
        });
        if !is_agreed {
            return self.store().explain(intent, "the RPC servers do not agree on what came of it").await;
        }
        let reverted = format!("the call reverted in block {}", intent.block.unwrap_or_default());
        let failure = given_up.map_or(reverted, str::to_owned);
        self.store().end(intent, (!succeeded).then_some(&failure), turn.now_ms).await?;
        intent.state = if succeeded { TxState::Final } else { TxState::Failed };
        Ok(())
    }
}

/// Why the transaction of this hash is not what was intended; none when it is.
fn given_up<'t>(turn: &'t Turn, intent: &IntentRow, hash: B256) -> Option<&'t str> {
    let it = turn.attempts.iter().find(|attempt| attempt.intent == intent.id && attempt.hash == hash)?;
    it.given_up.as_deref()
}

//! Signed transactions that are in no block: broadcast, broadcast again, and replaced by one with a higher fee.

use super::{pass::Pass, queue::NonceQueue};
use crate::{
    broadcast_error::{BroadcastError, broadcast_result},
    error::PassError,
    fees::{self, Fees},
    report::KEY_IS_GONE,
    row::{Attempt, IntentRow},
    store::HOST,
    unsigned_transaction::{TRANSFER_GAS, UnsignedTransaction},
};
use alloy_primitives::{Bytes, U256};
use plugin_api::manifest::TxState;

/// How often one broadcast may be repeated with a replacement.
const REPLACEMENTS_PER_PASS_MAX: u32 = 8;
/// How many blocks must have passed without a transaction before it is replaced.
const BLOCKS_BEFORE_REPLACEMENT: i64 = 2;

impl NonceQueue {
    pub(super) async fn rebroadcast(&mut self, pass: &mut Pass) -> Result<(), PassError> {
        let mut signed = std::mem::take(&mut pass.signed);
        for intent in signed.iter_mut().filter(|intent| intent.is_pending()) {
            if intent.nonce() >= pass.account.next_nonce {
                self.rebroadcast_intent(pass, intent).await?;
            }
        }
        pass.signed = signed;
        Ok(())
    }

    async fn rebroadcast_intent(&mut self, pass: &mut Pass, intent: &mut IntentRow) -> Result<(), PassError> {
        let attempts = pass.attempts_of(intent);
        let sent_ms = attempts.iter().filter_map(|attempt| attempt.sent_ms).max();
        let Some(newest) = attempts.last().copied().cloned() else {
            return Err(PassError::Signing(format!("intent {} has a nonce and no transaction", intent.id)));
        };
        let is_next = intent.nonce() == pass.account.next_nonce;
        let now_ms = pass.now_ms;
        let age = |since_ms: i64| now_ms.saturating_sub(since_ms).unsigned_abs();
        let replaceable_from = newest.block + BLOCKS_BEFORE_REPLACEMENT;
        let have_blocks_passed = i64::try_from(pass.account.block).unwrap_or(i64::MAX) >= replaceable_from;
        let is_old = age(newest.signed_ms) >= self.settings().replace_ms;
        if is_next && have_blocks_passed && is_old && !self.rejected_since_ms.contains_key(&intent.id) {
            match self.bump_fee(pass, intent, &newest).await? {
                Ok(replacement) => return self.broadcast(pass, intent, replacement).await,
                Err(reason) => self.set_reason(intent, &reason).await?,
            }
        }
        let is_due = sent_ms.is_none_or(|sent_ms| age(sent_ms) >= self.settings().resend_ms);
        if is_due || intent.state == TxState::Signed { self.broadcast(pass, intent, newest).await } else { Ok(()) }
    }

    /// Broadcasts the transaction, and replacements with higher fees while the servers find it underpriced.
    pub(super) async fn broadcast(
        &mut self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        mut attempt: Attempt,
    ) -> Result<(), PassError> {
        for _ in 0..REPLACEMENTS_PER_PASS_MAX {
            match broadcast_result(self.chain.broadcast(&attempt.raw).await) {
                Ok(()) => return self.mark_sent(pass, intent, &attempt).await,
                Err(BroadcastError::Underpriced) => {
                    self.rejected_since_ms.remove(&intent.id);
                    match self.bump_fee(pass, intent, &attempt).await? {
                        Ok(replacement) => attempt = replacement,
                        Err(reason) => return self.set_reason(intent, &reason).await,
                    }
                }
                Err(BroadcastError::Temporary(reason)) => return self.set_reason(intent, &reason).await,
                Err(BroadcastError::Rejected(reason)) => match self.cancel(pass, intent, &attempt, &reason).await? {
                    Some(transfer) => attempt = transfer,
                    None => return Ok(()),
                },
            }
        }
        Ok(())
    }

    pub(super) async fn mark_sent(
        &mut self,
        pass: &Pass,
        intent: &mut IntentRow,
        attempt: &Attempt,
    ) -> Result<(), PassError> {
        self.rejected_since_ms.remove(&intent.id);
        self.store().mark_sent(intent, attempt, pass.now_ms).await?;
        intent.state = TxState::Sent;
        Ok(())
    }

    /// Signs and stores a replacement with a higher fee. The inner error says why there is none: a limit of the operator's, or the key is
    /// gone.
    async fn bump_fee(
        &self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        last: &Attempt,
    ) -> Result<Result<Attempt, String>, PassError> {
        let last_fees = Fees { tip: last.tip_wei, max: last.max_fee_wei };
        if self.key.is_none() {
            return Ok(Err(KEY_IS_GONE.to_owned()));
        }
        let limit = self.settings().max_fee_gwei;
        let refused = || format!("the RPC servers want a higher fee than tx.max_fee_gwei ({limit}) allows");
        let Some(fees) = fees::bump(self.settings(), pass.account.base_fee, last_fees) else {
            return Ok(Err(refused()));
        };
        let fee_max = fees.max.saturating_mul(U256::from(last.gas.unsigned_abs()));
        // Empty transfers are not held back: the nonces behind them wait.
        let is_empty_transfer = last.cancel_reason.is_some() || intent.plugin == HOST;
        if !is_empty_transfer
            && let Some(reason) = self.daily_limit_problem(pass.now_ms, fee_max, (last.intent, last.nonce)).await?
        {
            return Ok(Err(reason));
        }
        let replacement = self.sign_replacement(pass, intent, last, fees, last.cancel_reason.clone()).await?;
        if let Some(replacement) = &replacement {
            let (nonce, tip) = (replacement.nonce, replacement.tip_wei);
            tracing::info!(
                intent = intent.id, nonce, %tip, hash = %replacement.hash,
                "a transaction is replaced by one with a higher fee"
            );
        }
        Ok(replacement.ok_or_else(refused))
    }

    /// Signs and stores another transaction with the nonce of the last one: the intent itself, or with a
    /// `cancel_reason` an empty transfer. None without the key, or when the same transaction was signed before.
    pub(super) async fn sign_replacement(
        &self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        last: &Attempt,
        fees: Fees,
        cancel_reason: Option<String>,
    ) -> Result<Option<Attempt>, PassError> {
        let Some(key) = &self.key else { return Ok(None) };
        let (to, value, data, gas) = match cancel_reason {
            None => {
                let data = intent.call_data().map_err(PassError::Signing)?;
                (intent.target, intent.value_wei, data, last.gas.unsigned_abs())
            }
            Some(_) => (self.sender, U256::ZERO, Bytes::new(), TRANSFER_GAS),
        };
        let (chain_id, nonce) = (self.chain.chain_id, intent.nonce());
        let unsigned = UnsignedTransaction { chain_id, nonce, to, value, data: &data, gas, fees };
        // Later than the last one, because attempts are ordered by this time.
        let signed_ms = pass.now_ms.max(last.signed_ms + 1);
        let signed = unsigned.sign_for(intent.id, key, pass.account.block, signed_ms).map_err(PassError::Signing)?;
        if pass.attempts.iter().any(|attempt| attempt.hash == signed.hash) {
            return Ok(None);
        }
        let signed = Attempt { cancel_reason, ..signed };
        self.store().save_replacement(intent, self.id(), &signed, pass.now_ms).await?;
        intent.state = TxState::Signed;
        pass.attempts.push(signed.clone());
        Ok(Some(signed))
    }
}

//! Cancels an intent that every server rejects for good, such as a call that is too large for them.
//!
//! The rule: the transaction was signed, so a server may have it all the same. An empty transfer to the sender itself
//! takes the same nonce at a higher fee; a receipt shows which of the two was included, and only when that is final the
//! intent has failed or succeeded. So the queue goes on, and nothing is paid twice.

use super::{pass::Pass, queue::NonceQueue};
use crate::{
    broadcast_error::{BroadcastError, broadcast_result},
    error::PassError,
    fees::{self, Fees},
    row::{Attempt, IntentRow},
};

impl NonceQueue {
    /// Signs the empty transfer once the intent has been rejected for long enough; returns it for broadcasting.
    pub(super) async fn cancel(
        &mut self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        rejected: &Attempt,
        reason: &str,
    ) -> Result<Option<Attempt>, PassError> {
        let since_ms = *self.rejected_since_ms.entry(intent.id).or_insert(pass.now_ms);
        let waited_ms = pass.now_ms.saturating_sub(since_ms).unsigned_abs();
        if waited_ms < self.settings().replace_ms {
            return self.set_reason(intent, reason).await.map(|()| None);
        }
        if self.is_earlier_attempt_accepted(pass, intent, rejected).await? {
            return Ok(None);
        }
        if rejected.cancel_reason.is_some() {
            return self.set_reason(intent, reason).await.map(|()| None);
        }
        let last = Fees { tip: rejected.tip_wei, max: rejected.max_fee_wei };
        // At the operator's limit the fee stays the same: servers that rejected the last transaction accept that.
        let fees = fees::bump(self.settings(), pass.account.base_fee, last).unwrap_or(last);
        let cancel_reason = format!("{reason}; an empty transfer takes its nonce {}", intent.nonce());
        let transfer = self.sign_replacement(pass, intent, rejected, fees, Some(cancel_reason)).await?;
        match &transfer {
            Some(transfer) => tracing::warn!(
                intent = intent.id, plugin = intent.plugin, nonce = transfer.nonce, hash = %transfer.hash, reason,
                "a transaction is cancelled by an empty transfer"
            ),
            None => self.set_reason(intent, reason).await?,
        }
        Ok(transfer)
    }

    /// Whether a server accepts an earlier transaction of this intent: then only the latest one is rejected.
    async fn is_earlier_attempt_accepted(
        &mut self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        rejected: &Attempt,
    ) -> Result<bool, PassError> {
        let attempts = pass.attempts_of(intent).into_iter().rev();
        let earlier: Vec<Attempt> = attempts.filter(|attempt| attempt.hash != rejected.hash).cloned().collect();
        for attempt in earlier {
            match broadcast_result(self.chain.broadcast(&attempt.raw).await) {
                Ok(()) => return self.mark_sent(pass, intent, &attempt).await.map(|()| true),
                Err(BroadcastError::Rejected(_)) => {}
                Err(BroadcastError::Underpriced) => return Ok(true),
                Err(BroadcastError::Temporary(reason)) => {
                    return self.set_reason(intent, &reason).await.map(|()| true);
                }
            }
        }
        Ok(false)
    }
}

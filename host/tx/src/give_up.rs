//! What every server refuses for good, such as a call that is too large for them.
//!
//! The rule: it was signed, so somebody may hold it all the same. Its nonce is offered to a transfer of nothing to oneself, at
//! a higher fee; a receipt tells which of both happened, and only when that is final the intent has failed or is done. So the
//! lane goes on, and nothing is paid twice.

use super::{
    Trouble,
    fees::{self, Fees},
    lane::{Lane, Turn},
    reception::Reception,
    row::{Attempt, IntentRow},
};

impl Lane {
    /// Answers the transfer of nothing, when it is time for that.
    pub(super) async fn give_up(
        &mut self,
        turn: &mut Turn,
        intent: &mut IntentRow,
        refused: &Attempt,
        reason: &str,
    ) -> Result<Option<Attempt>, Trouble> {
        let since_ms = *self.refused_since_ms.entry(intent.id).or_insert(turn.now_ms);
        let waited_ms = turn.now_ms.saturating_sub(since_ms).unsigned_abs();
        if waited_ms < self.settings().replace_ms {
            return self.store().explain(intent, reason).await.map(|()| None);
        }
        if self.is_held(turn, intent, refused).await? {
            return Ok(None);
        }
        if refused.given_up.is_some() {
            return self.store().explain(intent, reason).await.map(|()| None);
        }
        let last = Fees { tip: refused.tip_wei, max: refused.max_fee_wei };
        // At the operator's limit those who refused the last one take it nevertheless.
        let fees = fees::next(self.settings(), turn.account.base_fee, last).unwrap_or(last);
        let given_up = format!("{reason}; a transfer of nothing takes its nonce {}", intent.nonce());
        let nothing = self.sign_again(turn, intent, refused, fees, Some(given_up)).await?;
        match &nothing {
            Some(nothing) => tracing::warn!(
                intent = intent.id, plugin = intent.plugin, nonce = nothing.nonce, hash = %nothing.hash, reason,
                "a transaction is given up"
            ),
            None => self.store().explain(intent, reason).await?,
        }
        Ok(nothing)
    }

    /// Whether an earlier transaction of this intent is well where it is: then only the latest one is refused.
    async fn is_held(&mut self, turn: &mut Turn, intent: &mut IntentRow, refused: &Attempt) -> Result<bool, Trouble> {
        let attempts = turn.attempts_of(intent).into_iter().rev();
        let earlier: Vec<Attempt> = attempts.filter(|attempt| attempt.hash != refused.hash).cloned().collect();
        for attempt in earlier {
            match Reception::of(self.chain.hand_out(&attempt.raw).await) {
                Reception::Never(_) => {}
                Reception::Taken => return self.taken_by_servers(turn, intent, &attempt).await.map(|()| true),
                Reception::TooLow => return Ok(true),
                Reception::NotNow(reason) => return self.store().explain(intent, &reason).await.map(|()| true),
            }
        }
        Ok(false)
    }
}

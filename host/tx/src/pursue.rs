//! What is signed and in no block: handed out, handed out again, replaced by a better offer.

use super::{
    Trouble,
    fees::{self, Fees},
    lane::{Lane, Turn},
    raw::{TRANSFER_GAS, Unsigned},
    reception::Reception,
    row::{Attempt, IntentRow},
};
use alloy_primitives::{Bytes, U256};
use plugin_api::manifest::TxState;

/// Offers that one turn makes when a server finds each too low.
const OFFERS_MAX: u32 = 8;
/// Blocks that pass a transaction by before it is replaced.
const BLOCKS_MIN: i64 = 2;

impl Lane {
    pub(super) async fn pursue(&mut self, turn: &mut Turn) -> Result<(), Trouble> {
        let mut signed = std::mem::take(&mut turn.signed);
        let is_open = |intent: &&mut IntentRow| intent.is_pending();
        for intent in signed.iter_mut().filter(is_open) {
            if intent.nonce() >= turn.account.count {
                self.pursue_one(turn, intent).await?;
            }
        }
        turn.signed = signed;
        Ok(())
    }

    async fn pursue_one(&mut self, turn: &mut Turn, intent: &mut IntentRow) -> Result<(), Trouble> {
        let attempts = turn.attempts_of(intent);
        let taken_ms = attempts.iter().filter_map(|attempt| attempt.sent_ms).max();
        let Some(newest) = attempts.last().copied().cloned() else {
            return Err(Trouble::Unsigned(format!("intent {} has a nonce and no transaction", intent.id)));
        };
        let is_next = intent.nonce() == turn.account.count;
        let now_ms = turn.now_ms;
        let age = |since_ms: i64| now_ms.saturating_sub(since_ms).unsigned_abs();
        let is_passed_by = i64::try_from(turn.account.block).unwrap_or(i64::MAX) >= newest.block + BLOCKS_MIN;
        let is_old = age(newest.signed_ms) >= self.settings().replace_ms;
        if is_next && is_passed_by && is_old && !self.refused_since_ms.contains_key(&intent.id) {
            let better = self.outbid(turn, intent, &newest).await?;
            if let Some(better) = better {
                return self.hand_out(turn, intent, better).await;
            }
        }
        let is_due = taken_ms.is_none_or(|taken_ms| age(taken_ms) >= self.settings().resend_ms);
        if is_due || intent.state == TxState::Signed { self.hand_out(turn, intent, newest).await } else { Ok(()) }
    }

    /// Hands it out, and better offers while it is found too low.
    pub(super) async fn hand_out(
        &mut self,
        turn: &mut Turn,
        intent: &mut IntentRow,
        attempt: Attempt,
    ) -> Result<(), Trouble> {
        let mut attempt = attempt;
        for _ in 0..OFFERS_MAX {
            match Reception::of(self.chain.hand_out(&attempt.raw).await) {
                Reception::Taken => return self.taken_by_servers(turn, intent, &attempt).await,
                Reception::TooLow => {
                    self.refused_since_ms.remove(&intent.id);
                    match self.outbid(turn, intent, &attempt).await? {
                        Some(better) => attempt = better,
                        None => {
                            let limit = self.settings().max_fee_gwei;
                            let reason =
                                format!("the RPC servers want a higher fee than tx.max_fee_gwei ({limit}) allows");
                            return self.store().explain(intent, &reason).await;
                        }
                    }
                }
                Reception::NotNow(reason) => return self.store().explain(intent, &reason).await,
                Reception::Never(reason) => match self.give_up(turn, intent, &attempt, &reason).await? {
                    Some(nothing) => attempt = nothing,
                    None => return Ok(()),
                },
            }
        }
        Ok(())
    }

    pub(super) async fn taken_by_servers(
        &mut self,
        turn: &Turn,
        intent: &mut IntentRow,
        attempt: &Attempt,
    ) -> Result<(), Trouble> {
        self.refused_since_ms.remove(&intent.id);
        self.store().sent(intent, attempt, turn.now_ms).await?;
        intent.state = TxState::Sent;
        Ok(())
    }

    /// Signs and stores a better offer with the same nonce; none at the operator's limit, or without the key.
    async fn outbid(
        &self,
        turn: &mut Turn,
        intent: &mut IntentRow,
        last: &Attempt,
    ) -> Result<Option<Attempt>, Trouble> {
        let last_fees = Fees { tip: last.tip_wei, max: last.max_fee_wei };
        let offer = fees::next(self.settings(), turn.account.base_fee, last_fees);
        let Some(fees) = offer else { return Ok(None) };
        let better = self.sign_again(turn, intent, last, fees, last.given_up.clone()).await?;
        if let Some(better) = &better {
            let (nonce, tip) = (better.nonce, better.tip_wei);
            tracing::info!(
                intent = intent.id, nonce, %tip, hash = %better.hash,
                "a transaction is replaced by a better offer"
            );
        }
        Ok(better)
    }

    /// Signs and stores a further transaction with the nonce of the last: what is intended, or nothing for whoever is given
    /// up. None without the key, or when it would be one that is there.
    pub(super) async fn sign_again(
        &self,
        turn: &mut Turn,
        intent: &mut IntentRow,
        last: &Attempt,
        fees: Fees,
        given_up: Option<String>,
    ) -> Result<Option<Attempt>, Trouble> {
        let Some(key) = &self.key else { return Ok(None) };
        let (to, value, data, gas) = match given_up {
            None => (intent.target, intent.value_wei, data(intent)?, last.gas.unsigned_abs()),
            Some(_) => (self.sender, U256::ZERO, Bytes::new(), TRANSFER_GAS),
        };
        let unsigned =
            Unsigned { chain_id: self.chain.chain_id, nonce: intent.nonce(), to, value, data: &data, gas, fees };
        // Later than the one before, so that the order of signing is kept.
        let signed_ms = turn.now_ms.max(last.signed_ms + 1);
        let signed = unsigned.sign(key, intent.id, turn.account.block, signed_ms).map_err(Trouble::Unsigned)?;
        if turn.attempts.iter().any(|attempt| attempt.hash == signed.hash) {
            return Ok(None);
        }
        let signed = Attempt { given_up, ..signed };
        self.store().replace(intent, self.place(), &signed, turn.now_ms).await?;
        intent.state = TxState::Signed;
        turn.attempts.push(signed.clone());
        Ok(Some(signed))
    }
}

/// The call of an intent.
pub fn data(intent: &IntentRow) -> Result<Bytes, Trouble> {
    intent.data.parse().map_err(|_| Trouble::Unsigned(format!("the call of intent {} is not 0x…", intent.id)))
}

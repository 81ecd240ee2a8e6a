//! The next of the queue gets a nonce: priced, estimated, paid for, signed and stored.

use super::{
    Trouble, fees,
    lane::{Lane, Turn},
    pursue,
    raw::{TRANSFER_GAS, Unsigned},
    row::{Attempt, IntentRow},
};
use alloy_primitives::{Bytes, U256};
use gateway_chain::ChainError;
use gateway_signers::Key;
use plugin_api::manifest::TxState;
use serde_json::{Value, json};
use std::sync::Arc;

/// A gap that somebody else's transaction may still fill is left alone so many times as long as a replacement takes.
const FOREIGN_PATIENCE: u64 = 3;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Nonces that somebody else's transactions in a pool may take; a server that tells of more is not believed.
const FOREIGN_MAX: u64 = 64;

/// How long one that no server can estimate may stay in the queue.
const ESTIMATE_PATIENCE_MS: i64 = 10 * 60 * 1000;

/// What an estimate came to.
enum Estimate {
    Gas(u64),
    /// It would revert, or does not fit.
    Hopeless(String),
    /// Not now.
    Unknown(String),
    TooPoor(String),
}

/// How an intent of the queue fared.
enum Start {
    Begun,
    /// It is at its end; the next one may try.
    Ended,
    /// Something is in its way, and not in that of the next ones.
    Skipped(String),
    /// Something is in the way, of the next ones as well.
    Blocked(String),
}

impl Lane {
    /// Answers what is in the way of the whole queue, if anything.
    pub(super) async fn begin(&mut self, turn: &mut Turn, queued: Vec<IntentRow>) -> Result<Option<String>, Trouble> {
        let Some(key) = self.key.clone() else { return Ok(None) };
        self.close_gap(turn, &key).await?;
        for mut intent in queued {
            let pending = turn.signed.iter().filter(|intent| intent.is_pending()).count();
            if pending >= self.settings().in_flight_max {
                break;
            }
            match self.start(turn, &mut intent, &key).await? {
                Start::Begun => turn.signed.push(intent),
                Start::Ended => {}
                Start::Skipped(reason) => self.store().explain(&mut intent, &reason).await?,
                Start::Blocked(reason) => {
                    self.store().explain(&mut intent, &reason).await?;
                    return Ok(Some(reason));
                }
            }
        }
        Ok(None)
    }

    async fn start(&mut self, turn: &mut Turn, intent: &mut IntentRow, key: &Arc<Key>) -> Result<Start, Trouble> {
        if intent.valid_until_s.is_some_and(|until_s| turn.now_ms / 1000 > until_s) {
            self.store().end(intent, Some("its time was over before its turn came"), turn.now_ms).await?;
            return Ok(Start::Ended);
        }
        let gas = match self.estimate(turn, intent).await? {
            Estimate::Gas(gas) => gas,
            Estimate::Hopeless(reason) => {
                self.store().end(intent, Some(&reason), turn.now_ms).await?;
                return Ok(Start::Ended);
            }
            Estimate::Unknown(reason) => return Ok(Start::Skipped(reason)),
            Estimate::TooPoor(reason) => return Ok(Start::Blocked(reason)),
        };
        let data = pursue::data(intent)?;
        let attempt = match self.offer(turn, intent, gas, self.next_nonce(turn), &data, key)? {
            Ok(attempt) => attempt,
            Err(reason) => return Ok(Start::Blocked(reason)),
        };
        if let Some(reason) = self.unpaid(turn, intent, &attempt).await? {
            return Ok(Start::Blocked(reason));
        }
        self.send(turn, intent, attempt).await?;
        Ok(Start::Begun)
    }

    /// Stores the signed transaction with its nonce; only then does anybody hear of it.
    async fn send(&mut self, turn: &mut Turn, intent: &mut IntentRow, attempt: Attempt) -> Result<(), Trouble> {
        self.store().sign(intent, self.place(), &attempt, turn.now_ms).await?;
        (intent.state, intent.nonce, intent.sender) = (TxState::Signed, Some(attempt.nonce), Some(self.sender));
        turn.attempts.push(attempt.clone());
        tracing::info!(
            intent = intent.id, plugin = intent.plugin, nonce = attempt.nonce, hash = %attempt.hash,
            "a transaction is signed"
        );
        self.hand_out(turn, intent, attempt).await
    }

    fn offer(
        &self,
        turn: &Turn,
        intent: &IntentRow,
        gas: u64,
        nonce: u64,
        data: &Bytes,
        key: &Key,
    ) -> Result<Result<Attempt, String>, Trouble> {
        let Some(fees) = fees::first(self.settings(), turn.account.base_fee) else {
            let (base_fee, limit) = (turn.account.base_fee, self.settings().max_fee_gwei);
            return Ok(Err(format!("the base fee of {base_fee} wei is above tx.max_fee_gwei ({limit}) without a tip")));
        };
        let chain_id = self.chain.chain_id;
        let unsigned = Unsigned { chain_id, nonce, to: intent.target, value: intent.value_wei, data, gas, fees };
        unsigned.sign(key, intent.id, turn.account.block, turn.now_ms).map(Ok).map_err(Trouble::Unsigned)
    }

    /// The first nonce that neither the chain, nor a transaction of ours, nor one in a pool has.
    fn next_nonce(&self, turn: &Turn) -> u64 {
        let ours = turn.signed.iter().filter(|intent| intent.nonce.is_some()).map(|intent| intent.nonce() + 1).max();
        let next = turn.account.count.max(ours.unwrap_or(0));
        if (next..=next + FOREIGN_MAX).contains(&turn.account.pending) { turn.account.pending } else { next }
    }

    async fn estimate(&self, turn: &Turn, intent: &IntentRow) -> Result<Estimate, Trouble> {
        let transaction: Value = json!({
            "from": self.sender, "to": intent.target, "value": intent.value_wei, "data": intent.data,
        });
        if intent.value_wei > turn.account.balance {
            return Ok(Estimate::TooPoor(self.too_poor(turn.account.balance, intent.value_wei)));
        }
        match self.chain.estimate_gas(&transaction).await {
            Ok(gas) => Ok(fit(gas, intent.gas.map(i64::unsigned_abs), turn.account.gas_limit)),
            Err(ChainError::Failed { failure, .. }) if failure.is_revert() => {
                // One of ours that is on its way may be what it needs.
                let is_behind = turn.signed.iter().any(|other| other.is_pending() && other.id < intent.id);
                Ok(match is_behind {
                    true => Estimate::Unknown(format!("it would revert now, and is tried again later: {failure}")),
                    false => Estimate::Hopeless(format!("it would revert: {failure}")),
                })
            }
            Err(ChainError::Failed { failure, .. }) => {
                let reason = format!("no RPC server estimates its gas: {failure}");
                let is_old = turn.now_ms.saturating_sub(intent.created_ms) > ESTIMATE_PATIENCE_MS;
                Ok(if is_old { Estimate::Hopeless(reason) } else { Estimate::Unknown(reason) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Why the account cannot or must not pay for it now.
    async fn unpaid(&self, turn: &Turn, intent: &IntentRow, attempt: &Attempt) -> Result<Option<String>, Trouble> {
        let pending = turn.signed.iter().filter(|intent| intent.is_pending());
        let spoken_for = pending.fold(U256::ZERO, |sum, pending| {
            let fee = turn.attempts_of(pending).last().map(|newest| newest.fee_max()).unwrap_or_default();
            sum.saturating_add(pending.value_wei).saturating_add(fee)
        });
        let free = turn.account.balance.saturating_sub(spoken_for);
        let needed = intent.value_wei.saturating_add(attempt.fee_max());
        if free < needed {
            return Ok(Some(self.too_poor(free, needed)));
        }
        let Some(cap) = fees::daily_cap(self.settings()) else { return Ok(None) };
        let since_ms = turn.now_ms - DAY_MS;
        let today = self.store().attempts_since(self.chain.chain_id, self.sender, since_ms).await?;
        let sum = today.iter().fold(attempt.fee_max(), |sum, attempt| sum.saturating_add(attempt.fee_max()));
        let limit = self.settings().daily_fee_max_milli;
        Ok((sum > cap).then(|| format!("the fees of 24 hours could exceed tx.daily_fee_max_milli ({limit})")))
    }

    fn too_poor(&self, free: U256, needed: U256) -> String {
        format!("the account {} has {free} wei that are not spoken for, and this needs {needed}", self.sender)
    }

    /// When the account's next nonce is nobody's, all that wait behind it wait for ever: a transfer of nothing to oneself
    /// takes it.
    async fn close_gap(&mut self, turn: &mut Turn, key: &Arc<Key>) -> Result<(), Trouble> {
        let lowest = turn.signed.iter().filter(|intent| intent.is_pending()).map(IntentRow::nonce).min();
        let next = turn.account.count;
        if lowest.is_none_or(|lowest| lowest <= next) {
            self.gap_since_ms = None;
            return Ok(());
        }
        let since_ms = *self.gap_since_ms.get_or_insert(turn.now_ms);
        let patience = match turn.account.pending > next {
            true => self.settings().replace_ms.saturating_mul(FOREIGN_PATIENCE),
            false => self.settings().replace_ms,
        };
        if turn.now_ms.saturating_sub(since_ms).unsigned_abs() < patience {
            return Ok(());
        }
        let Some(role) = self.roles.first() else { return Ok(()) };
        let name = format!("gap {} {} {next}", self.chain.chain_id, self.sender);
        let Some(mut filler) = self.store().filler(role, &name, &self.chain, self.sender, turn.now_ms).await? else {
            return Ok(());
        };
        let offer = self.offer(turn, &filler, TRANSFER_GAS, next, &Bytes::new(), key)?;
        let Ok(attempt) = offer else { return Ok(()) };
        tracing::warn!(nonce = next, sender = %self.sender, "nobody has this nonce: a transfer of nothing takes it");
        self.send(turn, &mut filler, attempt).await?;
        self.gap_since_ms = None;
        turn.signed.push(filler);
        Ok(())
    }
}

/// The gas limit: the intent's own, or the estimate and a fifth more. What no block holds would block its nonce for ever.
fn fit(estimate: u64, own: Option<u64>, of_block: u64) -> Estimate {
    let limit = own.unwrap_or_else(|| estimate.saturating_add(estimate / 5).min(of_block.max(estimate)));
    if estimate > limit {
        return Estimate::Hopeless(format!("it would take {estimate} gas, and its limit is {limit}"));
    }
    if limit > of_block {
        return Estimate::Hopeless(format!("its limit of {limit} gas is more than a block holds ({of_block})"));
    }
    Estimate::Gas(limit)
}

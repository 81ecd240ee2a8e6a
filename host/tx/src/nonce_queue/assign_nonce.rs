//! Gives the next nonce to the first queued intent: estimates its gas, prices it, checks the balance, signs and stores
//! it.

use super::{pass::Pass, queue::NonceQueue};
use crate::{
    error::PassError,
    failure, fees,
    row::{Attempt, IntentRow},
    unsigned_transaction::{TRANSFER_GAS, UnsignedTransaction},
};
use alloy_primitives::{Address, Bytes, U256};
use gateway_chain::ChainError;
use gateway_signers::Key;
use plugin_api::manifest::TxState;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};

/// A nonce gap that a transaction from outside the journal may still fill is left alone for this many times
/// `replace_ms`.
const FOREIGN_GAP_WAITS: u64 = 3;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How many pending nonces from outside the journal are believed when a server reports them.
const FOREIGN_PENDING_MAX: u64 = 64;

/// How long an intent stays in the queue while no server can estimate its gas.
const ESTIMATE_RETRY_MAX_MS: i64 = 10 * 60 * 1000;

/// The transaction is signed before its intent is stored.
const NO_INTENT: i64 = 0;

enum Estimate {
    Gas(u64),
    /// It would revert, or exceeds a gas limit.
    Impossible(String),
    RetryLater(String),
    InsufficientFunds(String),
}

enum Assignment {
    Assigned,
    /// The intent has failed; the next one is tried.
    Failed,
    /// The intent cannot be sent now; the next one is tried.
    Skipped(String),
    /// Neither this intent nor those behind it can be sent now.
    Blocked(String),
}

impl NonceQueue {
    /// Returns why the whole queue is blocked, if it is.
    pub(super) async fn assign_nonces(
        &mut self,
        pass: &mut Pass,
        queued: Vec<IntentRow>,
    ) -> Result<Option<String>, PassError> {
        let Some(key) = self.key.clone() else { return Ok(None) };
        self.fill_nonce_gap(pass, &key).await?;
        for mut intent in queued {
            let pending = pass.signed.iter().filter(|intent| intent.is_pending()).count();
            if pending >= self.settings().in_flight_max {
                break;
            }
            match self.assign_nonce(pass, &mut intent, &key).await? {
                Assignment::Assigned => pass.signed.push(intent),
                Assignment::Failed => {}
                Assignment::Skipped(reason) => self.set_reason(&mut intent, &reason).await?,
                Assignment::Blocked(reason) => {
                    self.set_reason(&mut intent, &reason).await?;
                    return Ok(Some(reason));
                }
            }
        }
        Ok(None)
    }

    async fn assign_nonce(
        &mut self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        key: &Arc<Key>,
    ) -> Result<Assignment, PassError> {
        if intent.valid_until_s.is_some_and(|until_s| pass.now_ms / 1000 > until_s) {
            self.store().finish(intent, Some("its time was over before its turn came"), pass.now_ms).await?;
            return Ok(Assignment::Failed);
        }
        let gas = match self.estimate(pass, intent).await? {
            Estimate::Gas(gas) => gas,
            Estimate::Impossible(reason) => {
                self.store().finish(intent, Some(&reason), pass.now_ms).await?;
                return Ok(Assignment::Failed);
            }
            Estimate::RetryLater(reason) => return Ok(Assignment::Skipped(reason)),
            Estimate::InsufficientFunds(reason) => return Ok(Assignment::Blocked(reason)),
        };
        let data = intent.call_data().map_err(PassError::Signing)?;
        let call = (intent.target, intent.value_wei, &data, gas);
        let attempt = match self.price_and_sign(pass, intent.id, call, self.next_nonce(pass), key)? {
            Ok(attempt) => attempt,
            Err(reason) => return Ok(Assignment::Blocked(reason)),
        };
        if let Some(reason) = self.funding_problem(pass, intent, &attempt).await? {
            return Ok(Assignment::Blocked(reason));
        }
        self.store_and_broadcast(pass, intent, attempt).await?;
        Ok(Assignment::Assigned)
    }

    /// Stores the signed transaction with its nonce, and only then broadcasts it.
    async fn store_and_broadcast(
        &mut self,
        pass: &mut Pass,
        intent: &mut IntentRow,
        attempt: Attempt,
    ) -> Result<(), PassError> {
        self.store().save_signed(intent, self.id(), &attempt, pass.now_ms).await?;
        (intent.state, intent.nonce, intent.sender) = (TxState::Signed, Some(attempt.nonce), Some(self.sender));
        pass.attempts.push(attempt.clone());
        tracing::info!(
            intent = intent.id, plugin = intent.plugin, nonce = attempt.nonce, hash = %attempt.hash,
            "a transaction is signed"
        );
        self.broadcast(pass, intent, attempt).await
    }

    /// Signs a call with its gas for an intent. The inner error says why no fee within the operator's limit would do.
    fn price_and_sign(
        &self,
        pass: &Pass,
        intent: i64,
        (to, value, data, gas): (Address, U256, &Bytes, u64),
        nonce: u64,
        key: &Key,
    ) -> Result<Result<Attempt, String>, PassError> {
        let Some(fees) = fees::initial(self.settings(), pass.account.base_fee) else {
            let (base_fee, limit) = (pass.account.base_fee, self.settings().max_fee_gwei);
            return Ok(Err(format!("the base fee of {base_fee} wei is above tx.max_fee_gwei ({limit}) without a tip")));
        };
        let unsigned = UnsignedTransaction { chain_id: self.chain.chain_id, nonce, to, value, data, gas, fees };
        unsigned.sign_for(intent, key, pass.account.block, pass.now_ms).map(Ok).map_err(PassError::Signing)
    }

    /// The first nonce that is used neither on the chain, nor by an intent, nor by a transaction in a server's pool.
    fn next_nonce(&self, pass: &Pass) -> u64 {
        let signed = pass.signed.iter().filter(|intent| intent.nonce.is_some()).map(|intent| intent.nonce() + 1).max();
        let next = pass.account.next_nonce.max(signed.unwrap_or(0));
        if (next..=next + FOREIGN_PENDING_MAX).contains(&pass.account.pending_nonce) {
            pass.account.pending_nonce
        } else {
            next
        }
    }

    async fn estimate(&mut self, pass: &Pass, intent: &IntentRow) -> Result<Estimate, PassError> {
        let transaction: Value = json!({
            "from": self.sender, "to": intent.target, "value": intent.value_wei, "data": intent.data,
        });
        if intent.value_wei > pass.account.balance {
            let reason = self.insufficient_funds(pass.account.balance, intent.value_wei);
            return Ok(Estimate::InsufficientFunds(reason));
        }
        let estimated = self.chain.estimate_gas(&transaction).await;
        if !matches!(&estimated, Err(ChainError::Rpc { error, .. }) if !error.is_revert()) {
            self.no_estimate_since_ms.remove(&intent.id);
        }
        match estimated {
            Ok(gas) => Ok(gas_limit(gas, intent.gas.map(i64::unsigned_abs), pass.account.gas_limit)),
            Err(ChainError::Rpc { error, .. }) if error.is_revert() => {
                // It may depend on an earlier intent that is still pending.
                let is_earlier_pending = pass.signed.iter().any(|other| other.is_pending() && other.id < intent.id);
                Ok(match is_earlier_pending {
                    true => Estimate::RetryLater(format!("it would revert now, and is tried again later: {error}")),
                    false => Estimate::Impossible(failure::would_revert(&error)),
                })
            }
            Err(ChainError::Rpc { error, .. }) => {
                let reason = format!("no RPC server estimates its gas: {error}");
                let since_ms = *self.no_estimate_since_ms.entry(intent.id).or_insert(pass.now_ms);
                let is_old = pass.now_ms.saturating_sub(since_ms) > ESTIMATE_RETRY_MAX_MS;
                Ok(if is_old { Estimate::Impossible(reason) } else { Estimate::RetryLater(reason) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Why the account cannot pay for it now, or must not because of the daily limit.
    async fn funding_problem(
        &self,
        pass: &Pass,
        intent: &IntentRow,
        attempt: &Attempt,
    ) -> Result<Option<String>, PassError> {
        let pending = pass.signed.iter().filter(|intent| intent.is_pending());
        let reserved = pending.fold(U256::ZERO, |sum, pending| {
            let fee = pass.attempts_of(pending).last().map(|newest| newest.fee_max()).unwrap_or_default();
            sum.saturating_add(pending.value_wei).saturating_add(fee)
        });
        let available = pass.account.balance.saturating_sub(reserved);
        let needed = intent.value_wei.saturating_add(attempt.fee_max());
        if available < needed {
            return Ok(Some(self.insufficient_funds(available, needed)));
        }
        self.daily_limit_problem(pass.now_ms, attempt.fee_max(), (attempt.intent, attempt.nonce)).await
    }

    /// Why a fee of at most this could exceed the limit of 24 hours, also when it is paid instead of that of an earlier transaction with
    /// the same nonce: a block may have any of them.
    pub(super) async fn daily_limit_problem(
        &self,
        now_ms: i64,
        fee_max: U256,
        (intent, nonce): (i64, i64),
    ) -> Result<Option<String>, PassError> {
        let Some(daily_max) = fees::daily_max(self.settings()) else { return Ok(None) };
        let mut dearest = HashMap::from([((intent, nonce), fee_max)]);
        for attempt in self.store().attempts_since(self.chain.chain_id, self.sender, now_ms - DAY_MS).await? {
            let fee: &mut U256 = dearest.entry((attempt.intent, attempt.nonce)).or_default();
            *fee = attempt.fee_max().max(*fee);
        }
        let sum = dearest.values().fold(U256::ZERO, |sum, fee| sum.saturating_add(*fee));
        let limit = self.settings().daily_fee_max_milli;
        Ok((sum > daily_max).then(|| format!("the fees of 24 hours could exceed tx.daily_fee_max_milli ({limit})")))
    }

    fn insufficient_funds(&self, available: U256, needed: U256) -> String {
        format!("the account {} has {available} wei that are not spoken for, and this needs {needed}", self.sender)
    }

    /// Sends an empty transfer with the account's next nonce when no transaction uses it: those with higher nonces
    /// would otherwise wait forever.
    async fn fill_nonce_gap(&mut self, pass: &mut Pass, key: &Arc<Key>) -> Result<(), PassError> {
        let lowest = pass.signed.iter().filter(|intent| intent.is_pending()).map(IntentRow::nonce).min();
        let next = pass.account.next_nonce;
        if lowest.is_none_or(|lowest| lowest <= next) {
            self.nonce_gap_since_ms = None;
            return Ok(());
        }
        let since_ms = *self.nonce_gap_since_ms.get_or_insert(pass.now_ms);
        let wait_ms = match pass.account.pending_nonce > next {
            true => self.settings().replace_ms.saturating_mul(FOREIGN_GAP_WAITS),
            false => self.settings().replace_ms,
        };
        if pass.now_ms.saturating_sub(since_ms).unsigned_abs() < wait_ms {
            return Ok(());
        }
        let Some(role) = self.roles.first() else { return Ok(()) };
        let transfer = (self.sender, U256::ZERO, &Bytes::new(), TRANSFER_GAS);
        let Ok(attempt) = self.price_and_sign(pass, NO_INTENT, transfer, next, key)? else { return Ok(()) };
        let name = format!("gap {} {} {next}", self.chain.chain_id, self.sender);
        let place = (&*self.chain, self.sender);
        let filler = self.store().save_gap_filler((role, &name), place, &attempt, pass.now_ms).await?;
        let Some(mut filler) = filler else { return Ok(()) };
        tracing::warn!(nonce = next, sender = %self.sender, "no transaction has this nonce: an empty transfer takes it");
        let attempt = Attempt { intent: filler.id, ..attempt };
        pass.attempts.push(attempt.clone());
        self.broadcast(pass, &mut filler, attempt).await?;
        self.nonce_gap_since_ms = None;
        pass.signed.push(filler);
        Ok(())
    }
}

/// The intent's own gas limit, or the estimate and a fifth more. One above the block's limit would never be included,
/// and would block its nonce.
fn gas_limit(estimate: u64, own: Option<u64>, block_max: u64) -> Estimate {
    let limit = own.unwrap_or_else(|| estimate.saturating_add(estimate / 5).min(block_max.max(estimate)));
    if estimate > limit {
        return Estimate::Impossible(failure::takes_more_gas(estimate, limit));
    }
    if limit > block_max {
        return Estimate::Impossible(format!("its limit of {limit} gas is more than a block holds ({block_max})"));
    }
    Estimate::Gas(limit)
}

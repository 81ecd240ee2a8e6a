//! The nonce queue of an account, and one pass over it.
//!
//! The rule: a gateway changes the account's intents only while it holds the account's lease.

use super::{nonce_search::NonceSearch, pass::Pass};
use crate::{
    error::{PassError, UpdateError},
    journal::Journal,
    row::IntentRow,
    store::{IntentStore, LEASE_MS},
};
use alloy_primitives::{Address, U256};
use gateway_chain::{Chain, gauge_value};
use gateway_config::TxConfig;
use gateway_signers::Key;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// How old the balance of an account without transactions may become.
const BALANCE_AGE_MAX: Duration = Duration::from_secs(60);
/// How many queued intents are read in addition to those that may be in flight, because some may have to be skipped.
const SKIPPED_MAX: usize = 64;
/// How long this gateway does not acquire the lease after it released it because of an error.
const LEASE_BACKOFF: Duration = Duration::from_secs(2);
const LEASE_RENEW_INTERVAL: Duration = Duration::from_millis(LEASE_MS.unsigned_abs() / 5);

pub(crate) struct NonceQueue {
    journal: Arc<Journal>,
    pub(super) chain: Arc<Chain>,
    pub(super) sender: Address,
    /// None for an account whose key is no longer configured: what it signed is still broadcast and confirmed.
    pub(super) key: Option<Arc<Key>>,
    pub(super) roles: Vec<String>,
    lease_renewed_at: Option<Instant>,
    /// What the lease's row says, as far as this gateway has written it since it got the lease.
    blocked_reason_noted: Option<String>,
    /// Until then the lease is left to other gateways, after a pass that failed.
    backoff_until: Option<Instant>,
    balance_checked_at: Option<Instant>,
    /// Searches for the transactions that used lost nonces, by intent.
    pub(super) nonce_searches: HashMap<i64, NonceSearch>,
    /// Since when the lowest nonce of the pending intents is above the account's next nonce.
    pub(super) nonce_gap_since_ms: Option<i64>,
    /// Since when every server has rejected an intent for good, by intent.
    pub(super) rejected_since_ms: HashMap<i64, i64>,
    /// Since when no server estimates the gas of a queued intent, by intent.
    pub(super) no_estimate_since_ms: HashMap<i64, i64>,
}

impl NonceQueue {
    pub(crate) fn new(journal: Arc<Journal>, chain: Arc<Chain>, sender: Address) -> Self {
        let roles = journal.roles_of(sender);
        let key = roles.first().and_then(|role| journal.signers.key(role).ok());
        Self {
            journal,
            chain,
            sender,
            key,
            roles,
            lease_renewed_at: None,
            blocked_reason_noted: None,
            backoff_until: None,
            balance_checked_at: None,
            nonce_searches: HashMap::new(),
            nonce_gap_since_ms: None,
            rejected_since_ms: HashMap::new(),
            no_estimate_since_ms: HashMap::new(),
        }
    }

    pub(super) fn store(&self) -> &IntentStore {
        &self.journal.store
    }

    pub(super) fn settings(&self) -> &TxConfig {
        &self.journal.settings
    }

    /// Sets why the intent does not proceed; its state stays.
    pub(super) async fn set_reason(&self, intent: &mut IntentRow, reason: &str) -> Result<(), PassError> {
        Ok(self.store().set_reason(intent, reason).await?)
    }

    /// The chain and the account.
    pub(crate) fn id(&self) -> (u64, Address) {
        (self.chain.chain_id, self.sender)
    }

    /// Does what can be done now. Returns whether intents are left.
    pub(crate) async fn run_pass(&mut self) -> bool {
        match self.try_run_pass().await {
            Ok(is_busy) => is_busy,
            // The next pass reads the intent again.
            Err(PassError::Update(UpdateError::VersionConflict)) => true,
            Err(error) => {
                self.set_unreadable(true);
                let reason = error.to_string();
                tracing::warn!(chain = self.chain.name, sender = %self.sender, reason, "transactions wait");
                self.set_blocked_reason(Some(reason));
                self.back_off().await;
                true
            }
        }
    }

    async fn try_run_pass(&mut self) -> Result<bool, PassError> {
        let signed = self.store().signed(self.chain.chain_id, self.sender).await?;
        let queued = self.queued().await?;
        self.record_queue_length(&signed, &queued).await?;
        if signed.is_empty() && queued.is_empty() {
            self.set_unreadable(false);
            self.refresh_balance().await;
            return Ok(false);
        }
        if !self.acquire_lease().await? {
            self.follow_holder().await?;
            return Ok(true);
        }
        let account = self.chain.account(self.sender).await?;
        let ids: Vec<i64> = signed.iter().map(|intent| intent.id).collect();
        let attempts = self.store().attempts(&ids).await?;
        self.rejected_since_ms.retain(|id, _| ids.contains(id));
        self.no_estimate_since_ms.retain(|id, _| queued.iter().any(|intent| intent.id == *id));
        self.record_balance(account.balance);
        let mut pass = Pass { now_ms: self.now_ms(), account, signed, attempts };
        self.confirm(&mut pass).await?;
        self.rebroadcast(&mut pass).await?;
        // Set once, at the end, so that the reason does not come and go within each pass.
        let blocked_reason = self.assign_nonces(&mut pass, queued).await?;
        self.note_blocked_reason(blocked_reason.as_ref()).await?;
        self.set_blocked_reason(blocked_reason);
        self.set_unreadable(false);
        Ok(true)
    }

    async fn queued(&self) -> Result<Vec<IntentRow>, PassError> {
        if self.roles.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.store().queued(self.chain.chain_id, &self.roles, self.queued_max()).await?)
    }

    /// How many intents one pass reads to sign some of them.
    fn queued_max(&self) -> usize {
        self.settings().in_flight_max + SKIPPED_MAX
    }

    async fn acquire_lease(&mut self) -> Result<bool, PassError> {
        if self.backoff_until.is_some_and(|until| Instant::now() < until) {
            return Ok(false);
        }
        if self.lease_renewed_at.is_some_and(|renewed| renewed.elapsed() < LEASE_RENEW_INTERVAL) {
            return Ok(true);
        }
        let is_held = self.store().acquire_lease(self.id()).await?;
        if self.lease_renewed_at.is_none() {
            // Acquiring the lease has cleared it.
            self.blocked_reason_noted = None;
        }
        self.lease_renewed_at = is_held.then(Instant::now);
        Ok(is_held)
    }

    /// Tells the other gateways why nothing is signed: they read nothing of the account while this one does.
    async fn note_blocked_reason(&mut self, reason: Option<&String>) -> Result<(), PassError> {
        if self.blocked_reason_noted.as_ref() != reason {
            self.store().set_blocked_reason(self.id(), reason.map(String::as_str)).await?;
            self.blocked_reason_noted = reason.cloned();
        }
        Ok(())
    }

    /// Takes over what the gateway that holds the lease found. While none does, what the last pass could not read is still not known.
    async fn follow_holder(&self) -> Result<(), PassError> {
        if let Some(reason) = self.store().blocked_reason(self.id()).await? {
            self.set_blocked_reason(reason);
            self.set_unreadable(false);
        }
        Ok(())
    }

    /// Releases the lease for a while: another gateway may succeed, with other RPC servers for instance.
    async fn back_off(&mut self) {
        if self.lease_renewed_at.take().is_some() && self.store().release_lease(self.id()).await.is_ok() {
            self.backoff_until = Some(Instant::now() + LEASE_BACKOFF);
        }
    }

    /// Updates the balance of an account without intents. A failure is not reported: nothing waits for this account.
    async fn refresh_balance(&mut self) {
        let is_recent = self.balance_checked_at.is_some_and(|checked| checked.elapsed() < BALANCE_AGE_MAX);
        let status = self.journal.account_status(self.chain.chain_id, self.sender);
        let is_stale = status.is_some_and(|status| status.is_balance_stale);
        if self.key.is_none() || is_recent && !is_stale {
            return;
        }
        self.balance_checked_at = Some(Instant::now());
        if let Ok(account) = self.chain.account(self.sender).await {
            self.record_balance(account.balance);
            self.set_blocked_reason(None);
        }
    }

    fn record_balance(&mut self, balance: U256) {
        self.balance_checked_at = Some(Instant::now());
        // Only shown, never calculated with, so a float is precise enough.
        self.set_gauge("gateway_tx_balance_wei", f64::from(balance));
        self.journal.update_status(self.chain.chain_id, self.sender, |status| {
            (status.balance, status.is_balance_stale) = (Some(balance), false);
        });
    }

    async fn record_queue_length(&self, signed: &[IntentRow], queued: &[IntentRow]) -> Result<(), PassError> {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let (queued, queued_since_ms) = if queued.len() < self.queued_max() {
            (count(queued.len()), queued.iter().map(|intent| intent.created_ms).min())
        } else {
            // There may be more than were read.
            let (queued, since_ms) = self.store().queued_count(self.chain.chain_id, &self.roles).await?;
            (queued.unsigned_abs(), since_ms)
        };
        let pending = signed.iter().filter(|intent| intent.is_pending());
        let oldest_ms = pending.clone().map(|intent| intent.created_ms).chain(queued_since_ms).min();
        let pending = count(pending.count());
        self.set_gauge("gateway_tx_queued", gauge_value(queued));
        self.set_gauge("gateway_tx_pending", gauge_value(pending));
        let age_s = oldest_ms.map_or(0, |oldest_ms| self.now_ms().saturating_sub(oldest_ms).max(0) / 1000);
        self.set_gauge("gateway_tx_oldest_age_seconds", gauge_value(age_s.unsigned_abs()));
        self.journal.update_status(self.chain.chain_id, self.sender, |status| {
            (status.queued, status.pending, status.oldest_ms) = (queued, pending, oldest_ms);
        });
        Ok(())
    }

    fn set_gauge(&self, name: &'static str, value: f64) {
        let (chain, account) = (self.chain.name.clone(), self.sender.to_string());
        metrics::gauge!(name, "chain" => chain, "account" => account).set(value);
    }

    fn set_blocked_reason(&self, reason: Option<String>) {
        self.journal.update_status(self.chain.chain_id, self.sender, |status| status.blocked_reason = reason);
    }

    fn set_unreadable(&self, is_unreadable: bool) {
        self.journal.update_status(self.chain.chain_id, self.sender, |status| status.is_unreadable = is_unreadable);
    }

    fn now_ms(&self) -> i64 {
        self.journal.clock.now_ms()
    }
}

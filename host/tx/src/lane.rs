//! One account on one chain: its nonces go out in their order.

use super::{
    Journal, Trouble,
    row::{Attempt, IntentRow},
    store::{LEASE_MS, Store},
    taken::Search,
};
use alloy_primitives::{Address, U256};
use gateway_chain::account::Account;
use gateway_chain::{Chain, exact};
use gateway_config::TxConfig;
use gateway_signers::Key;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// How often the balance of an account with nothing to do is asked for.
const BALANCE_AGE_MAX: Duration = Duration::from_secs(60);
/// Of the queue, so many more are looked at than may be on their way, because some may have to wait.
const SKIPPED_MAX: usize = 64;
/// How long a lane is left to others.
const REST: Duration = Duration::from_secs(2);
/// How often a lease is renewed.
const RENEW: Duration = Duration::from_millis(LEASE_MS.unsigned_abs() / 5);

pub struct Lane {
    journal: Arc<Journal>,
    pub(super) chain: Arc<Chain>,
    pub(super) sender: Address,
    /// None for an account whose key is not configured any more: what it signed is still pursued.
    pub(super) key: Option<Arc<Key>>,
    pub(super) roles: Vec<String>,
    renewed: Option<Instant>,
    /// Until when the lane is left to other gateways, after a turn that failed.
    resting_until: Option<Instant>,
    asked: Option<Instant>,
    /// Where the users of lost nonces are looked for, by intent.
    pub(super) searches: HashMap<i64, Search>,
    /// Since when the lowest nonce of ours is not the next one of the account.
    pub(super) gap_since_ms: Option<i64>,
    /// Since when every server refuses an intent for good, and none has taken it.
    pub(super) refused_since_ms: HashMap<i64, i64>,
}

/// Everything that a turn knows.
pub struct Turn {
    pub now_ms: i64,
    pub account: Account,
    /// Signed and not at its end, in the order of nonces.
    pub signed: Vec<IntentRow>,
    pub attempts: Vec<Attempt>,
}

impl Turn {
    /// The transactions of an intent with its present nonce, oldest first.
    pub fn attempts_of(&self, intent: &IntentRow) -> Vec<&Attempt> {
        let of_it = |attempt: &&Attempt| attempt.intent == intent.id && Some(attempt.nonce) == intent.nonce;
        self.attempts.iter().filter(of_it).collect()
    }
}

impl Lane {
    pub fn new(journal: Arc<Journal>, chain: Arc<Chain>, sender: Address) -> Self {
        let roles = journal.roles_of(sender);
        let key = roles.first().and_then(|role| journal.signers.key(role).ok());
        Self {
            journal,
            chain,
            sender,
            key,
            roles,
            renewed: None,
            resting_until: None,
            asked: None,
            searches: HashMap::new(),
            gap_since_ms: None,
            refused_since_ms: HashMap::new(),
        }
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(super) fn store(&self) -> &Store {
        &self.journal.store
    }

    pub(super) fn settings(&self) -> &TxConfig {
        &self.journal.settings
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.journal.clock.now_ms()
    }

    /// The account, with the chain that it is on.
    pub fn place(&self) -> (u64, Address) {
        (self.chain.chain_id, self.sender)
    }

    /// Does what can be done now; whether something is left to do.
    pub async fn turn(&mut self) -> bool {
        match self.work().await {
            Ok(is_busy) => is_busy,
            // Another look will tell.
            Err(Trouble::Moved) => true,
            Err(trouble) => {
                let reason = trouble.to_string();
                tracing::warn!(chain = self.chain.name, sender = %self.sender, reason, "transactions wait");
                self.explain(Some(reason));
                self.step_back().await;
                true
            }
        }
    }

    async fn work(&mut self) -> Result<bool, Trouble> {
        let signed = self.store().signed(self.chain.chain_id, self.sender).await?;
        let queued = self.queued().await?;
        self.count(&signed, &queued);
        if signed.is_empty() && queued.is_empty() {
            self.look().await;
            return Ok(false);
        }
        if !self.holds_lease().await? {
            return Ok(true);
        }
        let account = self.chain.account(self.sender).await?;
        let ids: Vec<i64> = signed.iter().map(|intent| intent.id).collect();
        let attempts = self.store().attempts(&ids).await?;
        self.refused_since_ms.retain(|id, _| ids.contains(id));
        self.saw_balance(account.balance);
        let mut turn = Turn { now_ms: self.now_ms(), account, signed, attempts };
        self.follow(&mut turn).await?;
        self.pursue(&mut turn).await?;
        // Said at the end, so that it does not come and go with every turn.
        let blocked = self.begin(&mut turn, queued).await?;
        self.explain(blocked);
        Ok(true)
    }

    async fn queued(&self) -> Result<Vec<IntentRow>, Trouble> {
        if self.roles.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.store().queued(self.chain.chain_id, &self.roles, self.settings().in_flight_max + SKIPPED_MAX).await?)
    }

    async fn holds_lease(&mut self) -> Result<bool, Trouble> {
        if self.resting_until.is_some_and(|until| Instant::now() < until) {
            return Ok(false);
        }
        if self.renewed.is_some_and(|renewed| renewed.elapsed() < RENEW) {
            return Ok(true);
        }
        let holder = &self.journal.chains.holder;
        let is_ours = self.store().claim(self.chain.chain_id, self.sender, holder, self.now_ms()).await?;
        self.renewed = is_ours.then(Instant::now);
        Ok(is_ours)
    }

    /// Another gateway may have better luck, with other servers for instance.
    async fn step_back(&mut self) {
        let holder = &self.journal.chains.holder;
        if self.renewed.take().is_some() && self.store().release(self.place(), holder).await.is_ok() {
            self.resting_until = Some(Instant::now() + REST);
        }
    }

    /// Keeps the balance known while there is nothing to do. An account that nobody answers for is not worth a word then.
    async fn look(&mut self) {
        let is_recent = self.asked.is_some_and(|asked| asked.elapsed() < BALANCE_AGE_MAX);
        let is_doubted = self.journal().facts(self.chain.chain_id, self.sender).is_some_and(|facts| facts.is_doubted);
        if self.key.is_none() || is_recent && !is_doubted {
            return;
        }
        self.asked = Some(Instant::now());
        if let Ok(account) = self.chain.account(self.sender).await {
            self.saw_balance(account.balance);
            self.explain(None);
        }
    }

    fn saw_balance(&mut self, balance: U256) {
        self.asked = Some(Instant::now());
        // To look at, not to count with: a float.
        self.gauge("tx_balance_wei", f64::from(balance));
        self.journal().note(self.chain.chain_id, self.sender, |facts| {
            (facts.balance, facts.is_doubted) = (Some(balance), false);
        });
    }

    fn count(&self, signed: &[IntentRow], queued: &[IntentRow]) {
        let length = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let pending = signed.iter().filter(|intent| intent.is_pending());
        let waiting = pending.clone().chain(queued).map(|intent| intent.created_ms).min();
        let (queued, pending) = (length(queued.len()), length(pending.count()));
        self.gauge("tx_queued", exact(queued));
        self.gauge("tx_pending", exact(pending));
        let age_s = waiting.map_or(0, |since_ms| self.now_ms().saturating_sub(since_ms).max(0) / 1000);
        self.gauge("tx_oldest_age_seconds", exact(age_s.unsigned_abs()));
        self.journal().note(self.chain.chain_id, self.sender, |facts| {
            (facts.queued, facts.pending, facts.oldest_ms) = (queued, pending, waiting);
        });
    }

    fn gauge(&self, name: &'static str, value: f64) {
        let (chain, account) = (self.chain.name.clone(), self.sender.to_string());
        metrics::gauge!(name, "chain" => chain, "account" => account).set(value);
    }

    /// Says what is in the way of this account.
    pub(super) fn explain(&self, reason: Option<String>) {
        self.journal().note(self.chain.chain_id, self.sender, |facts| facts.reason = reason);
    }
}

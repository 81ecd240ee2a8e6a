//! The journal: intents in the database, and the state of each account that sends them.

use super::store::IntentStore;
use alloy_primitives::{Address, U256};
use gateway_chain::Chains;
use gateway_clock::Clock;
use gateway_config::TxConfig;
use gateway_signers::Signers;
use gateway_storage::Database;
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use tokio::sync::watch;

/// The last known state of an account on a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccountStatus {
    pub balance: Option<U256>,
    pub queued: u64,
    pub pending: u64,
    /// When the oldest intent that is queued or pending was created, in Unix milliseconds.
    pub oldest_ms: Option<i64>,
    /// Why no queued intent can be signed now.
    pub blocked_reason: Option<String>,
    /// The last pass failed: what waits is not known.
    pub is_unreadable: bool,
    /// An intent was refused because of the balance, so the balance is read again.
    pub is_balance_stale: bool,
}

pub struct Journal {
    pub(crate) store: IntentStore,
    pub(crate) signers: Arc<Signers>,
    pub(crate) chains: Arc<Chains>,
    pub(crate) clock: Clock,
    pub(crate) settings: TxConfig,
    accounts: Mutex<HashMap<(u64, Address), AccountStatus>>,
    intent_recorded: watch::Sender<u64>,
}

impl Journal {
    pub fn new(
        database: Database,
        signers: Arc<Signers>,
        chains: Arc<Chains>,
        clock: Clock,
        settings: TxConfig,
    ) -> Self {
        let (accounts, intent_recorded) = (Mutex::default(), watch::Sender::new(0));
        Self { store: IntentStore::new(database), signers, chains, clock, settings, accounts, intent_recorded }
    }

    /// Wakes the sending tasks; called after an intent was committed.
    pub fn wake(&self) {
        self.intent_recorded.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.intent_recorded.subscribe()
    }

    pub(crate) fn account_status(&self, chain_id: u64, sender: Address) -> Option<AccountStatus> {
        self.accounts.lock().get(&(chain_id, sender)).cloned()
    }

    /// Those of a chain, in the order of their addresses.
    pub(crate) fn account_statuses(&self, chain_id: u64) -> BTreeMap<Address, AccountStatus> {
        let accounts = self.accounts.lock();
        let of_chain = accounts.iter().filter(|((chain, _), _)| *chain == chain_id);
        of_chain.map(|((_, sender), status)| (*sender, status.clone())).collect()
    }

    pub(crate) fn update_status(&self, chain_id: u64, sender: Address, update: impl FnOnce(&mut AccountStatus)) {
        update(self.accounts.lock().entry((chain_id, sender)).or_default());
    }

    /// The roles that are configured with this account's key.
    pub(crate) fn roles_of(&self, sender: Address) -> Vec<String> {
        let of_sender = self.signers.ready().filter(|(_, key)| key.address() == sender);
        of_sender.map(|(role, _)| role.to_owned()).collect()
    }
}

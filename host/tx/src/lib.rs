//! The journal of transactions that the gateway sends for plugins (DESIGN §2, law 5): intent → signed → sent → included →
//! final, or failed with a reason.
//!
//! The rules: what is signed is stored before anybody hears of it; an intent has at most one nonce at a time, and gets another
//! only when it is proven that none of its transactions can be included any more; one that no server takes leaves its nonce to
//! a transfer of nothing, and a receipt decides which of both happened; what came of it is said when it will not be undone.

mod begin;
mod capability;
mod fees;
mod follow;
mod give_up;
mod lane;
mod migration;
mod pursue;
mod raw;
mod reception;
mod record;
mod row;
mod run;
mod status;
mod store;
mod taken;

pub use migration::{GIVEN_UP_MIGRATION, MIGRATION};
pub use run::run;

use alloy_primitives::{Address, U256};
use gateway_chain::{ChainError, Chains};
use gateway_clock::Clock;
use gateway_config::TxConfig;
use gateway_signers::Signers;
use gateway_storage::{Database, StorageError};
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use store::Store;
use tokio::sync::watch;

/// Why a turn did not do its work.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Another gateway has changed the intent.
    #[error("another gateway works on it")]
    Moved,
    /// The transaction cannot be signed.
    #[error("not signed: {0}")]
    Unsigned(String),
}

/// What this gateway knows of a key on a chain.
#[derive(Clone, Debug, Default)]
struct Facts {
    balance: Option<U256>,
    queued: u64,
    pending: u64,
    /// Unix milliseconds; of what waits or is in no block.
    oldest_ms: Option<i64>,
    /// What is in the way.
    reason: Option<String>,
    /// Somebody was refused because of the balance: it is asked for again.
    is_doubted: bool,
}

pub struct Journal {
    store: Store,
    signers: Arc<Signers>,
    chains: Arc<Chains>,
    clock: Clock,
    settings: TxConfig,
    facts: Mutex<HashMap<(u64, Address), Facts>>,
    recorded: watch::Sender<u64>,
}

impl Journal {
    pub fn new(
        database: Database,
        signers: Arc<Signers>,
        chains: Arc<Chains>,
        clock: Clock,
        settings: TxConfig,
    ) -> Self {
        let (facts, recorded) = (Mutex::default(), watch::Sender::new(0));
        Self { store: Store::new(database), signers, chains, clock, settings, facts, recorded }
    }

    /// Says that an intent was committed.
    pub fn wake(&self) {
        self.recorded.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn facts(&self, chain_id: u64, sender: Address) -> Option<Facts> {
        self.facts.lock().get(&(chain_id, sender)).cloned()
    }

    fn note(&self, chain_id: u64, sender: Address, change: impl FnOnce(&mut Facts)) {
        change(self.facts.lock().entry((chain_id, sender)).or_default());
    }

    /// The roles whose key this is.
    fn roles_of(&self, sender: Address) -> Vec<String> {
        let of_sender = self.signers.ready().filter(|(_, key)| key.address() == sender);
        of_sender.map(|(role, _)| role.to_owned()).collect()
    }
}

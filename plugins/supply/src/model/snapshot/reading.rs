//! What was read from the chain for a snapshot, all of it at one block.

use crate::model::{Category, ExcludedAddress, Position};
use plugin_api::{Address, Wei};

#[derive(Clone, Debug)]
pub struct Reading {
    /// The block, and what was burned up to and with it.
    pub at: Position,
    /// When the block was made, in Unix seconds.
    pub time_s: i64,
    pub head: u64,
    /// What each burn address has.
    pub burned: Vec<(Address, Wei)>,
    pub excluded: Vec<HeldBalance>,
}

/// An excluded address with what it has.
#[derive(Clone, Debug)]
pub struct HeldBalance {
    pub wallet: ExcludedAddress,
    pub balance: Wei,
    /// Of a vesting contract `releasable()`, of a lock `remaining()`; 0 of others.
    pub answer: Wei,
}

impl HeldBalance {
    /// An open lock holds coins of the foundation.
    pub fn category(&self) -> Category {
        match self.wallet.category {
            Category::Locked if self.answer == Wei::ZERO => Category::Foundation,
            category => category,
        }
    }

    /// What does not circulate.
    pub fn excluded(&self) -> Wei {
        match self.wallet.category {
            Category::Vesting => self.balance.saturating_sub(self.answer),
            Category::Locked | Category::Foundation => self.balance,
        }
    }

    pub fn note(&self) -> &'static str {
        match (self.wallet.category, self.category()) {
            (_, Category::Locked) => "locked by a contract",
            (_, Category::Vesting) => "not vested yet: the balance without what could be released",
            (Category::Locked, _) => "the lock is open: held by the foundation",
            (_, Category::Foundation) => "held by the foundation",
        }
    }
}

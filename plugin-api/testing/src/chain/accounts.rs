//! Balances that follow from transactions, where a test wants them: [`super::ScriptedChain::keep_accounts`]. Every transaction uses all
//! of its gas, as a plain transfer with the exact limit does.

use super::{
    block::Block,
    mempool::{BASE_FEE_WEI, ScriptedTx},
};
use alloy_primitives::U256;
use plugin_api::Address;
use std::collections::{HashMap, HashSet};

pub struct Accounts(HashMap<Address, U256>);

impl Accounts {
    /// After these blocks; `balances` are those of the beginning.
    pub fn after(blocks: &[Block], balances: &HashMap<Address, String>) -> Self {
        let start = balances.iter().map(|(address, wei)| (*address, wei.parse().unwrap_or_default())).collect();
        let mut accounts = Self(start);
        for tx in blocks.iter().flat_map(|block| &block.txs) {
            accounts.apply(tx);
        }
        accounts
    }

    pub fn balance(&self, address: Address) -> U256 {
        self.0.get(&address).copied().unwrap_or_default()
    }

    /// Applies what can be paid, in this order; returns what was applied and what has to wait. Behind one that waits its sender's
    /// later ones wait, too.
    pub fn apply_affordable(&mut self, txs: Vec<ScriptedTx>) -> (Vec<ScriptedTx>, Vec<ScriptedTx>) {
        let mut waiting = HashSet::new();
        txs.into_iter().partition(|tx| {
            let is_paid = !waiting.contains(&tx.from) && self.apply(tx);
            if !is_paid {
                waiting.insert(tx.from);
            }
            is_paid
        })
    }

    /// False when the sender cannot pay it: then nothing changes.
    fn apply(&mut self, tx: &ScriptedTx) -> bool {
        let price = tx.max_fee.min(BASE_FEE_WEI + tx.tip);
        let cost = tx.value.0 + U256::from(price) * U256::from(tx.gas);
        let Some(left) = self.balance(tx.from).checked_sub(cost) else { return false };
        self.0.insert(tx.from, left);
        let received = self.balance(tx.to) + tx.value.0;
        self.0.insert(tx.to, received);
        true
    }
}

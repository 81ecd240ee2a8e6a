//! The blocks of a scripted chain.

use super::{
    accounts::Accounts,
    block::Block,
    contracts::{ScriptedContract, events_of},
    log::ScriptedLog,
    mempool::{BASE_FEE_WEI, Mempool, ScriptedTx},
};
use alloy_primitives::{B256, Selector, U256, keccak256};
use plugin_api::Address;
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};

/// Timestamp of the first block: the start of the test's clock.
const START_S: u64 = 1_767_225_600;
const BLOCK_S: u64 = 7;
/// What a transaction uses.
const TX_GAS: u64 = 21_000;

pub struct Blocks {
    pub chain_id: u64,
    blocks: Vec<Block>,
    /// Blocks that a reorganisation removed; a server may still have them.
    pub removed: Vec<Block>,
    /// Whether they are still found by their hashes.
    pub keeps_removed: bool,
    /// Counts all blocks ever mined and is part of their hashes, so that a reorganisation gives new hashes.
    mined_count: u64,
    pub calls: HashMap<(Address, Selector), Vec<u8>>,
    pub balances: HashMap<Address, String>,
    /// Whether transactions change balances, and those that cannot be paid are not mined.
    pub has_accounts: bool,
    /// Balances that addresses have from a block on, in the order in which they were set.
    pub later_balances: Vec<(u64, Address, String)>,
    /// Tokens whose `balanceOf` is what their events say, less what the token keeps of each transfer.
    pub tokens: HashMap<Address, U256>,
    pub mempool: Mempool,
    /// Null for a node without this method.
    pub clique_status: Value,
    /// What the times of new blocks follow: unix seconds. Without it a block comes every seven seconds.
    pub clock: Option<fn() -> i64>,
    pub contracts: HashMap<Address, Arc<dyn ScriptedContract>>,
}

impl Blocks {
    pub fn new(chain_id: u64) -> Self {
        let mut blocks = Self {
            chain_id,
            blocks: Vec::new(),
            removed: Vec::new(),
            keeps_removed: false,
            mined_count: 0,
            calls: HashMap::new(),
            balances: HashMap::new(),
            has_accounts: false,
            later_balances: Vec::new(),
            tokens: HashMap::new(),
            mempool: Mempool::default(),
            clique_status: Value::Null,
            clock: None,
            contracts: HashMap::new(),
        };
        blocks.mine(Vec::new());
        blocks
    }

    pub fn mine(&mut self, mut logs: Vec<ScriptedLog>) -> u64 {
        self.mined_count += 1;
        let number = self.blocks.len() as u64;
        let parent = self.blocks.last().map_or(B256::ZERO, |block| block.hash);
        let hash = keccak256([parent.as_slice(), &self.mined_count.to_be_bytes()].concat());
        for (index, log) in logs.iter_mut().enumerate().filter(|(_, log)| log.tx == B256::ZERO) {
            log.tx = keccak256([hash.as_slice(), &index.to_be_bytes()].concat());
        }
        let nonces: HashMap<Address, u64> =
            self.blocks.iter().flat_map(|block| &block.txs).fold(HashMap::new(), |mut nonces, tx| {
                *nonces.entry(tx.from).or_default() += 1;
                nonces
            });
        let mut txs = self.mempool.take_mineable(|from| nonces.get(&from).copied().unwrap_or_default());
        if self.has_accounts {
            let (paid, waiting) = self.accounts(&self.blocks).apply_affordable(txs);
            self.mempool.push(waiting);
            txs = paid;
        }
        let gas_used = TX_GAS * txs.len() as u64;
        let time_s = self.next_time_s(number);
        let mut reverted = Vec::new();
        for tx in &txs {
            let Some(contract) = self.contracts.get(&tx.to) else { continue };
            let earlier: Vec<&ScriptedLog> = events_of(tx.to, &self.blocks, &logs).collect();
            match contract.execute(&earlier, tx, time_s) {
                Ok(events) => logs.extend(events.into_iter().map(|log| ScriptedLog { tx: tx.hash.into(), ..log })),
                Err(_) => reverted.push(tx.hash),
            }
        }
        let base_fee_wei = BASE_FEE_WEI;
        self.blocks.push(Block { number, hash, parent, time_s, logs, txs, reverted, gas_used, base_fee_wei });
        number
    }

    fn next_time_s(&self, number: u64) -> u64 {
        let Some(clock) = self.clock else { return START_S + number * BLOCK_S };
        let earliest = self.blocks.last().map_or(0, |block| block.time_s + 1);
        u64::try_from(clock()).unwrap_or(0).max(earliest)
    }

    /// Sets what the newest block used and burned.
    pub fn set_fees(&mut self, gas_used: u64, base_fee_wei: u128) {
        if let Some(block) = self.blocks.last_mut() {
            (block.gas_used, block.base_fee_wei) = (gas_used, base_fee_wei);
        }
    }

    /// After the block with this number.
    pub fn balance(&self, address: Address, block: u64) -> U256 {
        if self.has_accounts {
            let until = usize::try_from(block).unwrap_or(usize::MAX).saturating_add(1).min(self.blocks.len());
            return self.accounts(&self.blocks[..until]).balance(address);
        }
        let later = self.later_balances.iter().rev().find(|(from, of, _)| *of == address && *from <= block);
        let wei = later.map(|(_, _, wei)| wei).or_else(|| self.balances.get(&address));
        wei.and_then(|wei| wei.parse().ok()).unwrap_or_default()
    }

    /// Removes the newest blocks; the first block always stays. Returns the removed events, without those of contracts that were deployed:
    /// their transactions make them again.
    pub fn reorg(&mut self, depth: u64) -> Vec<ScriptedLog> {
        let depth = usize::try_from(depth).unwrap_or(usize::MAX).min(self.blocks.len() - 1);
        let removed = self.blocks.split_off(self.blocks.len() - depth);
        let txs: Vec<ScriptedTx> = removed.iter().flat_map(|block| block.txs.clone()).collect();
        let mut logs: Vec<ScriptedLog> = removed.iter().flat_map(|block| block.logs.clone()).collect();
        logs.retain(|log| !(self.contracts.contains_key(&log.address) && txs.iter().any(|tx| log.tx.0 == tx.hash)));
        self.mempool.push(txs);
        self.removed.extend(removed);
        logs
    }

    /// The balances after these blocks.
    pub fn accounts(&self, known: &[Block]) -> Accounts {
        Accounts::after(if self.has_accounts { known } else { &[] }, &self.balances)
    }

    /// The next nonce of an account after these blocks.
    pub fn nonce(known: &[Block], from: Address) -> u64 {
        known.iter().flat_map(|block| &block.txs).filter(|tx| tx.from == from).count() as u64
    }

    pub fn head(&self) -> &Block {
        &self.blocks[self.blocks.len() - 1]
    }

    pub fn all(&self) -> &[Block] {
        &self.blocks
    }
}

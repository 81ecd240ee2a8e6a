//! A block of a scripted chain.

use super::{log::ScriptedLog, mempool::ScriptedTx};
use alloy_primitives::B256;

#[derive(Clone)]
pub struct Block {
    pub number: u64,
    pub hash: B256,
    pub parent: B256,
    pub time_s: u64,
    pub logs: Vec<ScriptedLog>,
    pub txs: Vec<ScriptedTx>,
    /// Hashes of those that the code of a contract has reverted.
    pub reverted: Vec<[u8; 32]>,
    pub gas_used: u64,
    pub base_fee_wei: u128,
}

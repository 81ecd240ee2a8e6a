//! Accounts of a scripted chain: what they send, what waits to be mined, what was mined.

use alloy::{
    consensus::{Transaction as _, TxEnvelope},
    eips::eip2718::Decodable2718 as _,
};
use alloy_primitives::{B256, hex, keccak256};
use plugin_api::{Address, Wei};
use serde_json::{Value, json};
use std::collections::HashSet;

const GWEI: u128 = 1_000_000_000;
/// What signers of the network want.
pub const TIP_MIN_WEI: u128 = GWEI;
pub const BASE_FEE_WEI: u128 = 7;

/// A transaction of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedTx {
    pub hash: [u8; 32],
    pub from: Address,
    pub nonce: u64,
    pub to: Address,
    pub value: Wei,
    pub data: Vec<u8>,
    pub gas: u64,
    /// Per gas, in wei.
    pub tip: u128,
    /// Per gas, in wei; base fee and tip together.
    pub max_fee: u128,
}

/// What is in no block.
#[derive(Default)]
pub struct Pool {
    waiting: Vec<ScriptedTx>,
    /// What tips less is taken and not mined.
    pub block_tip_min: u128,
    /// Takes transactions, answers their hash, and forgets them.
    pub is_lossy: bool,
    pub tip_min: Option<u128>,
    /// Contracts whose calls would revert, and say so when asked.
    pub refusing: HashSet<Address>,
    /// Contracts whose calls revert only in a block.
    pub failing: HashSet<Address>,
    /// Transactions whose receipts are kept back.
    pub are_receipts_hidden: bool,
}

impl ScriptedTx {
    /// Reads a signed transaction and who signed it.
    pub fn parse(raw: &str, chain_id: u64) -> Result<Self, String> {
        let bytes = hex::decode(raw).map_err(|error| error.to_string())?;
        let envelope = TxEnvelope::decode_2718(&mut bytes.as_slice()).map_err(|error| error.to_string())?;
        let TxEnvelope::Eip1559(signed) = &envelope else { return Err("only EIP-1559 is spoken here".to_owned()) };
        let tx = signed.tx();
        if tx.chain_id != chain_id {
            return Err(format!("invalid chain id for signer: have {} want {chain_id}", tx.chain_id));
        }
        let from = signed.signature().recover_address_from_prehash(&signed.signature_hash());
        Ok(Self {
            hash: signed.hash().0,
            from: Address(from.map_err(|error| error.to_string())?.into_array()),
            nonce: tx.nonce,
            to: Address(tx.to().ok_or("no contracts are made here")?.into_array()),
            value: Wei(tx.value),
            data: tx.input.to_vec(),
            gas: tx.gas_limit,
            tip: tx.max_priority_fee_per_gas,
            max_fee: tx.max_fee_per_gas,
        })
    }

    /// One that somebody else sent with the key.
    pub fn foreign(from: Address, nonce: u64) -> Self {
        let hash = keccak256([&from.0[..], &nonce.to_be_bytes(), b"elsewhere"].concat()).0;
        let (to, value, data) = (Address([0xee; 20]), Wei::ZERO, Vec::new());
        Self { hash, from, nonce, to, value, data, gas: 21_000, tip: 100 * GWEI, max_fee: 100 * GWEI }
    }

    pub fn as_json(&self) -> Value {
        json!({ "hash": B256::from(self.hash), "from": self.from, "nonce": format!("{:#x}", self.nonce) })
    }
}

impl Pool {
    /// Takes a transaction as servers do; `next` is the account's next nonce.
    pub fn take(&mut self, tx: ScriptedTx, next: u64) -> Result<(), String> {
        if tx.nonce < next {
            return Err(format!("nonce too low: next nonce {next}, tx nonce {}", tx.nonce));
        }
        if tx.tip < self.tip_min.unwrap_or(TIP_MIN_WEI) {
            return Err(format!("transaction underpriced: tip {}", tx.tip));
        }
        let rival = self.waiting.iter().position(|other| (other.from, other.nonce) == (tx.from, tx.nonce));
        if let Some(rival) = rival {
            let old = &self.waiting[rival];
            if old.hash == tx.hash {
                return Err("already known".to_owned());
            }
            if tx.tip * 10 < old.tip * 11 || tx.max_fee * 10 < old.max_fee * 11 {
                return Err("replacement transaction underpriced".to_owned());
            }
            self.waiting.remove(rival);
        }
        if !self.is_lossy {
            self.waiting.push(tx);
        }
        Ok(())
    }

    /// What goes into the next block, `next` being the next nonce of an account.
    pub fn ready(&mut self, next: impl Fn(Address) -> u64) -> Vec<ScriptedTx> {
        let mut ready: Vec<ScriptedTx> = Vec::new();
        self.waiting.sort_by_key(|tx| tx.nonce);
        self.waiting.retain(|tx| {
            let mined = ready.iter().filter(|other| other.from == tx.from).count() as u64;
            let next = next(tx.from) + mined;
            let is_ready = tx.nonce == next && tx.tip >= self.block_tip_min;
            if is_ready {
                ready.push(tx.clone());
            }
            tx.nonce >= next && !is_ready
        });
        ready
    }

    /// The next nonce with what waits here, in one row.
    pub fn next_nonce(&self, from: Address, next: u64) -> u64 {
        let waits = |nonce: &u64| self.waiting.iter().any(|tx| (tx.from, tx.nonce) == (from, *nonce));
        (next..).find(|nonce| !waits(nonce)).unwrap_or(next)
    }

    /// What was in blocks that were taken back waits again.
    pub fn put_back(&mut self, txs: Vec<ScriptedTx>) {
        self.waiting.extend(txs);
    }

    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    pub fn waiting(&self) -> &[ScriptedTx] {
        &self.waiting
    }
}

//! Transactions and the mempool of a scripted chain.

use alloy::{
    consensus::{Transaction as _, TxEnvelope},
    eips::eip2718::Decodable2718 as _,
};
use alloy_primitives::{B256, hex, keccak256};
use plugin_api::{Address, Wei};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

const GWEI: u128 = 1_000_000_000;
/// Minimum priority fee that nodes accept.
pub const TIP_MIN_WEI: u128 = GWEI;
pub const BASE_FEE_WEI: u128 = 7;

/// A transaction.
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
    /// Per gas, in wei; includes the base fee.
    pub max_fee: u128,
}

/// The mempool: transactions that are in no block.
#[derive(Default)]
pub struct Mempool {
    pending: Vec<ScriptedTx>,
    /// Transactions with a lower tip stay in the mempool and are not mined.
    pub block_tip_min: u128,
    /// Accepts transactions and drops them.
    pub is_lossy: bool,
    pub tip_min: Option<u128>,
    /// Contracts whose calls revert, also in gas estimates.
    pub refusing: HashSet<Address>,
    /// Contracts whose calls revert only in a block.
    pub failing: HashSet<Address>,
    /// Whether receipts are null.
    pub are_receipts_hidden: bool,
    /// Gas estimates of calls of these contracts.
    pub estimates: HashMap<Address, u64>,
    /// In place of every estimate.
    pub estimate_error: Option<String>,
}

impl ScriptedTx {
    /// Decodes a signed transaction and recovers its sender.
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

    /// A transaction that another program sent with the same key.
    pub fn foreign(from: Address, nonce: u64) -> Self {
        let hash = keccak256([&from.0[..], &nonce.to_be_bytes(), b"elsewhere"].concat()).0;
        let (to, value, data) = (Address([0xee; 20]), Wei::ZERO, Vec::new());
        Self { hash, from, nonce, to, value, data, gas: 21_000, tip: 100 * GWEI, max_fee: 100 * GWEI }
    }

    pub fn as_json(&self) -> Value {
        json!({
            "hash": B256::from(self.hash),
            "from": self.from,
            "to": self.to,
            "value": format!("{:#x}", self.value.0),
            "nonce": format!("{:#x}", self.nonce),
        })
    }
}

impl Mempool {
    /// Accepts or refuses a transaction as nodes do; `next` is the account's next nonce.
    pub fn submit(&mut self, tx: ScriptedTx, next: u64) -> Result<(), String> {
        if tx.nonce < next {
            return Err(format!("nonce too low: next nonce {next}, tx nonce {}", tx.nonce));
        }
        if tx.tip < self.tip_min.unwrap_or(TIP_MIN_WEI) {
            return Err(format!("transaction underpriced: tip {}", tx.tip));
        }
        let replaced = self.pending.iter().position(|other| (other.from, other.nonce) == (tx.from, tx.nonce));
        if let Some(replaced) = replaced {
            let old = &self.pending[replaced];
            if old.hash == tx.hash {
                return Err("already known".to_owned());
            }
            if tx.tip * 10 < old.tip * 11 || tx.max_fee * 10 < old.max_fee * 11 {
                return Err("replacement transaction underpriced".to_owned());
            }
            self.pending.remove(replaced);
        }
        if !self.is_lossy {
            self.pending.push(tx);
        }
        Ok(())
    }

    /// Removes and returns the transactions of the next block; `next` is the next nonce of an account.
    pub fn take_mineable(&mut self, next: impl Fn(Address) -> u64) -> Vec<ScriptedTx> {
        let mut ready: Vec<ScriptedTx> = Vec::new();
        self.pending.sort_by_key(|tx| tx.nonce);
        self.pending.retain(|tx| {
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

    /// The next nonce after the account's consecutive pending transactions.
    pub fn next_nonce(&self, from: Address, next: u64) -> u64 {
        let is_pending = |nonce: &u64| self.pending.iter().any(|tx| (tx.from, tx.nonce) == (from, *nonce));
        (next..).find(|nonce| !is_pending(nonce)).unwrap_or(next)
    }

    /// Adds transactions without checks, for example those of removed blocks.
    pub fn push(&mut self, txs: Vec<ScriptedTx>) {
        self.pending.extend(txs);
    }

    pub fn clear(&mut self) {
        self.pending.clear();
    }

    pub fn pending(&self) -> &[ScriptedTx] {
        &self.pending
    }
}

//! The vault: its functions, and its events with the arguments that handlers need.

use plugin_api::{Address, Event, Wei, contracts::ContractEvent};
use serde::{Deserialize, Deserializer, Serialize};

pub use plugin_api::contracts::x402_vault::{CONTRACT as VAULT, Settled};

/// The hash of the domain that vouchers are signed for.
pub const DOMAIN_SEPARATOR: &str = "DOMAIN_SEPARATOR() returns (bytes32)";
pub const BALANCE: &str = "balance(address) returns (uint256)";
pub const UNLOCK_AT: &str = "unlockAt(address) returns (uint256)";
pub const USED: &str = "used(address,uint256) returns (bool)";
pub const VERIFY: &str = "verify((address,address,uint256,uint256,uint64,bytes32),bytes) returns (bool,string)";
pub const SETTLE_BATCH: &str = "settleBatch((address,address,uint256,uint256,uint64,bytes32)[],bytes[])";

#[derive(Deserialize, ContractEvent)]
#[contract_event(VAULT, "Deposited(address indexed payer, uint256 amount)")]
pub struct Deposited {
    pub payer: Address,
    pub amount: Wei,
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(VAULT, "Skipped(address indexed payer, uint256 nonce, string reason)")]
pub struct Skipped {
    pub payer: Address,
    pub nonce: Wei,
    /// Of any length.
    pub reason: String,
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(VAULT, "UnlockRequested(address indexed payer, uint64 at)")]
pub struct UnlockRequested {
    pub payer: Address,
    #[serde(deserialize_with = "seconds")]
    pub at: i64,
}

/// A deposit leaves; then the account is locked again.
#[derive(Deserialize, ContractEvent)]
#[contract_event(VAULT, "Withdrawn(address indexed to, uint256 amount)")]
pub struct Withdrawn {
    pub to: Address,
    pub amount: Wei,
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    u64::deserialize(deserializer).map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// `x402.settled`: a settlement.
#[derive(Serialize, Event)]
#[event("x402.settled", subject = "x402", id = key, actor = settled.payer)]
pub struct VoucherSettled<'a> {
    #[serde(flatten)]
    settled: &'a Settled,
    /// Payer and nonce.
    #[serde(skip)]
    key: String,
}

impl<'a> VoucherSettled<'a> {
    pub fn of(settled: &'a Settled) -> Self {
        Self { settled, key: format!("{}:{}", settled.payer, settled.nonce) }
    }
}

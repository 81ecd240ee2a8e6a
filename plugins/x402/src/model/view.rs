//! What the routes answer.

use super::{Names, State, VoucherRow};
use plugin_api::{Address, Hash256, JsonSchema, Wei};
use serde::Serialize;
use serde_json::{Value, json};

/// How payments are settled here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Settlement {
    Facilitator,
    Disabled,
}

impl Settlement {
    pub const fn of(disabled: Option<&String>) -> Self {
        if disabled.is_some() { Self::Disabled } else { Self::Facilitator }
    }
}

/// Whether a payment would be accepted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyResponse {
    pub is_valid: bool,
    /// The same.
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid_reason: Option<String>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub payer: Address,
    /// Null while it is not deployed.
    pub vault: Option<Address>,
    pub settlement: Settlement,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
}

/// What became of a payment that was to be settled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettleResponse {
    /// Whether it was accepted.
    pub success: bool,
    pub nonce: String,
    /// Null until a batch confirms it.
    pub tx_hash: Option<Hash256>,
    /// The same; empty for null.
    pub transaction: String,
    /// Whether it waits for a batch.
    pub queued: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_reason: Option<String>,
    pub payer: Address,
    pub network: String,
    pub settlement: Settlement,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
}

/// The JSON of the header `PAYMENT-RESPONSE`.
pub fn receipt(names: &Names, success: bool, payer: Address, nonce: Wei, tx: Option<Hash256>) -> Value {
    json!({
        "success": success,
        "txHash": tx,
        "transaction": tx.map(|tx| tx.to_string()).unwrap_or_default(),
        "network": names.network,
        "nonce": nonce,
        "payer": payer,
    })
}

/// A voucher as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoucherView {
    pub payer: Address,
    pub nonce: Wei,
    pub payee: Address,
    pub amount: Wei,
    #[serde(rename = "ref")]
    pub reference: Hash256,
    /// Unix seconds, as the other times.
    pub expiry: i64,
    /// The URL that it paid for.
    pub resource: String,
    pub status: State,
    pub tx_hash: Option<Hash256>,
    pub error: Option<String>,
    pub created_at: i64,
    pub settled_at: Option<i64>,
}

impl VoucherView {
    pub fn of(row: VoucherRow, now_s: i64) -> Self {
        let outcome = row.outcome(now_s);
        Self {
            payer: row.payer,
            nonce: row.nonce,
            payee: row.payee,
            amount: row.amount,
            reference: row.reference,
            expiry: row.expiry_s,
            resource: row.resource,
            status: outcome.state,
            tx_hash: outcome.tx,
            error: outcome.reason,
            created_at: row.created_at,
            settled_at: outcome.at.filter(|_| outcome.state == State::Settled),
        }
    }

    /// Whether the vault will take it from the payer's balance.
    pub fn is_pending(&self) -> bool {
        matches!(self.status, State::Queued | State::Submitted)
    }
}

/// A payer: his balance in the vault, and his vouchers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayerView {
    pub address: Address,
    pub vault: Option<Address>,
    /// Null while the vault cannot be read.
    pub balance: Option<Wei>,
    /// Unix seconds from which the balance can be taken out; 0 while it is locked.
    pub unlock_at: Option<i64>,
    /// Sum of the pending vouchers.
    pub pending_wei: Wei,
    /// Those that wait for a batch, or are in one.
    pub pending: Vec<VoucherView>,
    /// His settlements on the chain.
    pub settled_count: i64,
    /// The newest 200.
    pub vouchers: Vec<VoucherView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How to pay here.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Supported {
    pub x402_version: u8,
    /// One for each version of x402, the first one first.
    pub kinds: Vec<Kind>,
    /// The EIP-712 domain; the zero address while no vault is deployed.
    pub domain: Value,
    /// The EIP-712 types.
    pub types: Value,
    pub batch: BatchLimits,
    pub voucher: VoucherLimits,
    /// In wei; null while it cannot be read.
    pub facilitator_balance: Option<Wei>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Extensions of x402: none.
    pub extensions: Vec<String>,
    /// The facilitator's addresses by network.
    pub signers: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A scheme on a network.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kind {
    pub x402_version: u8,
    pub scheme: String,
    pub network: String,
    pub asset: String,
    pub vault: Option<Address>,
    pub settlement: Settlement,
    pub facilitator: Option<Address>,
    /// What servers copy into their terms: the vault.
    pub extra: Value,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchLimits {
    pub every_ms: u64,
    pub size: u32,
    pub queued: i64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoucherLimits {
    pub max_timeout_seconds: i64,
    pub min_expiry_seconds: i64,
    pub max_expiry_seconds: i64,
}

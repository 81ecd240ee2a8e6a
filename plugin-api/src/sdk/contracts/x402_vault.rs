//! `X402Vault`: what payers deposited, and what was paid from it.

use crate::{Address, Hash256, Wei, contracts::ContractEvent};
use serde::{Deserialize, Serialize};

/// Key of the contract in the gateway's configuration.
pub const CONTRACT: &str = "x402Vault";

/// A voucher was settled. As JSON it has the arguments in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ContractEvent)]
#[contract_event(
    CONTRACT,
    "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)"
)]
pub struct Settled {
    pub payer: Address,
    pub payee: Address,
    /// Includes the fee.
    pub amount: Wei,
    pub fee: Wei,
    pub nonce: Wei,
    #[serde(rename = "ref")]
    pub reference: Hash256,
}

//! `AccountFactory`: accounts that act for their owner.

use crate::{Address, contracts::ContractEvent};
use serde::Deserialize;

/// Key of the contract in the gateway's configuration.
pub const CONTRACT: &str = "accountFactory";

/// An account was made for this owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[contract_event(CONTRACT, "AccountCreated(address indexed owner, address indexed account)")]
pub struct AccountCreated {
    pub owner: Address,
    pub account: Address,
}

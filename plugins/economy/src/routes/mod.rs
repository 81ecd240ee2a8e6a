//! One file per route, named after its operation.

pub mod list_accounts;
pub mod list_disputes;
pub mod list_plans;
pub mod list_streams;
pub mod list_subs;
pub mod list_tokens;

mod filter;

use plugin_api::{Address, HostHandle, JsonSchema};
use serde::Serialize;

/// Stands beside a list whose contract is not deployed, and nowhere else.
#[derive(Serialize, JsonSchema)]
struct Undeployed {
    disabled: bool,
    reason: &'static str,
}

/// The address of the contract, or the note that it is not deployed.
fn deployment(host: &HostHandle, key: &str) -> (Option<Address>, Option<Undeployed>) {
    let address = host.environment().contract(key);
    let absent = address.is_none().then_some(Undeployed { disabled: true, reason: "not deployed" });
    (address, absent)
}

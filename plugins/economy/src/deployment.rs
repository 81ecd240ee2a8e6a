//! Which contracts are deployed. Their keys are those of `[chains.main.contracts]`.

use plugin_api::{Address, HostHandle, JsonSchema};
use serde::Serialize;

pub const STREAM_PAY: &str = "streamPay";
pub const ARBITER_POOL: &str = "arbiterPool";
pub const TOKEN_FACTORY: &str = "tokenFactory";
pub const ACCOUNT_FACTORY: &str = "accountFactory";
/// The implementation that accounts are clones of; its own events are ignored.
pub const ACCOUNT_IMPL: &str = "accountImpl";

/// The contracts whose records this plugin serves.
pub const SHOWN: [&str; 4] = [STREAM_PAY, ARBITER_POOL, TOKEN_FACTORY, ACCOUNT_FACTORY];

/// Stands beside a list whose contract is not deployed, and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Undeployed {
    disabled: bool,
    reason: &'static str,
}

/// The address of the contract, or the note that it is not deployed.
pub fn of(host: &HostHandle, key: &str) -> (Option<Address>, Option<Undeployed>) {
    let address = host.environment().contract(key);
    let absent = address.is_none().then_some(Undeployed { disabled: true, reason: "not deployed" });
    (address, absent)
}

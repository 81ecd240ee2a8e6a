//! Rows derived from chain events. Only the handlers of `chain.rs` write them.

pub mod accounts;
pub mod agents;
pub mod jobs;
pub mod pairs;

/// SQL for whom the address in this expression counts for: the owner of an account, otherwise the address itself.
pub fn folded(address: &str) -> String {
    format!("coalesce((SELECT f.owner FROM network_accounts f WHERE f.account = {address}), {address})")
}

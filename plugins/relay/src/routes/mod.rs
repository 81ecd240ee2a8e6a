//! The routes, a file for each, and what two of them share.

mod client;
pub mod create_account;
pub mod get_relay;
pub mod relay_call;

use std::time::Duration;

/// How long a request waits until its transaction is signed.
const SIGNED_WITHIN: Duration = Duration::from_secs(5);
/// When to ask again, if it is not.
const RETRY_AFTER_S: i64 = 5;
const TIMEOUT_MS: u64 = 20_000;

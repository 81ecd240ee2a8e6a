//! The journal of transactions that the gateway sends for plugins: intent → signed → sent → included
//! → final, or failed with a reason.
//!
//! The rules: a signed transaction is stored before it is broadcast; an intent has at most one nonce at a time, and
//! gets another only when it is proven that none of its transactions can be included any more; a transaction that every
//! server rejects is cancelled by an empty transfer with the same nonce, and a receipt decides which of the two
//! happened; one that was signed is final or failed only when its block will not be undone.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod broadcast_error;
mod capability;
mod error;
mod failure;
mod fees;
mod journal;
mod migration;
mod nonce_queue;
mod record;
mod report;
mod row;
mod run;
mod status;
mod store;
mod unsigned_transaction;
mod wallets;

pub use journal::Journal;
pub use migration::{blocked_reason_migration, cancel_reason_migration, migration, release_keys};
pub use report::{AccountReport, TransactionReport};
pub use run::run;

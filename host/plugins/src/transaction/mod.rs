//! The transaction in which a plugin writes, from its first statement to its commit or its next attempt.

mod abi_transaction;
mod charge;
mod commit_error;
pub mod conflicts;
mod context;
mod lost_commit;
mod plugin_transaction;
mod provider_transaction;
mod refused_transaction;
mod write_admission;
mod write_guard;

pub use charge::{ChargeOutcome, RequestCharge};
pub use commit_error::CommitError;
pub use context::TransactionContext;
pub use lost_commit::{FORGET_ATTEMPTS, attempts_migration};
pub use plugin_transaction::{CommitMode, PluginTransaction};
pub(crate) use provider_transaction::ProviderTransaction;
pub use refused_transaction::{refused_transaction, undeclared_transaction};
pub use write_admission::WriteAdmission;
pub use write_guard::{
    IntervalClock, SignedWriteRecord, guard_attempts_migration, guards_by_time_migration, guards_migration,
};

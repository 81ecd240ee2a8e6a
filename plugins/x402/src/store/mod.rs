//! The SQL of vouchers, payers, batches, and of what is derived from the vault's events.

pub mod audit;
pub mod batches;
pub mod derived;
pub mod payers;
pub mod record;
pub mod standing;
pub mod vouchers;

//! The store's tables. Migrations create them; no other code writes them.

pub mod payloads;
pub mod pruning;

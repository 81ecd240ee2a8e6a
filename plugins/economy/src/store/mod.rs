//! The derived tables: migrations create them, handlers of chain events write them, routes read them.

pub mod accounts;
pub mod directory;
pub mod disputes;
pub mod plans;
pub mod record;
pub mod streams;
pub mod subs;
pub mod tokens;

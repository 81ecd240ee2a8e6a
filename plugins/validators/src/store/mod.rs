//! The waitlist's tables. Migrations create them; no other code writes them.

pub mod entries;
pub mod signatures;

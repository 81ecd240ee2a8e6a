//! The table of tools. Migrations create it; no other code writes it.

pub mod probes;
pub mod tools;

//! The tables of the knowledge base. Migrations create them; no other code writes them.

pub mod pages;
pub mod revisions;
pub mod search;
pub mod unindexed;

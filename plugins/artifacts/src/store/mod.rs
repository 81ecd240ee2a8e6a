//! The tables of artifacts. Migrations create them; no other code writes them.

pub mod artifact_list;
pub mod artifacts;
pub mod stars;

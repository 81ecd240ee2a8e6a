//! All SQL: rows derived from chain events (`derived`), edges and agents for answers, what agents declare, the picture.

pub mod agents;
pub mod candidates;
pub mod capabilities;
pub mod derived;
pub mod edges;
pub mod labelled;
pub mod pictures;

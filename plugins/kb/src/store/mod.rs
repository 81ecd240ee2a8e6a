//! The tables of the knowledge base: migrations/ makes them, nothing else in the house touches them.

pub mod page_list;
pub mod pages;
pub mod revisions;
pub mod search;
pub mod totals;

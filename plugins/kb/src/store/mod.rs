//! The tables of the knowledge base. Migrations create them; no other code writes them.

pub mod page_list;
pub mod pages;
pub mod revisions;
pub mod search;
pub mod totals;

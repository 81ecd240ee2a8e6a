//! The forum's tables. Migrations create them; no other code writes them.

pub mod posts;
pub mod thread_detail;
pub mod thread_list;
pub mod threads;

//! The forum's tables: migrations/ makes them, nothing else in the house touches them.

pub mod posts;
pub mod thread_detail;
pub mod thread_list;
pub mod threads;
pub mod unanswered;

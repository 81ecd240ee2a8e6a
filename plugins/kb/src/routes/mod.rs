//! One file per route, named after its operation.

pub mod get_page;
pub mod get_page_history;
pub mod list_pages;
pub mod write_page;

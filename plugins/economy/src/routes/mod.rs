//! One file per route, named after its operation.

pub mod list_accounts;
pub mod list_disputes;
pub mod list_plans;
pub mod list_streams;
pub mod list_subs;
pub mod list_tokens;

use crate::store::PageRequest;
use plugin_api::Page;

/// Page size of all lists.
type ListPage = Page<50, 200>;

fn window(page: ListPage) -> PageRequest {
    PageRequest { limit: page.limit, offset: page.offset }
}

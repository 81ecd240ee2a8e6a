//! Types and rules of work, without the gateway: filters, query, response types.

mod coin;
mod filter;
mod query;
mod sort;
mod terms;
mod view;

pub use filter::{labels, matches};
pub use query::{FilterView, WorkQuery};
pub use sort::Sort;
pub use terms::search_terms;
pub use view::{KINDS, WorkItemView, id, kind_name};

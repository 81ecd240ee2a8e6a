//! What work looks like and how it is chosen, without a gateway.

mod coin;
mod filter;
mod query;
mod terms;
mod view;

pub use filter::{Filter, Sort, labels};
pub use query::{FilterView, WorkQuery};
pub use terms::Terms;
pub use view::{KINDS, WorkItemView, id, kind_name, text};

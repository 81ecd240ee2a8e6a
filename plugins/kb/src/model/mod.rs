//! Types and rules of pages, without a database: checks, write policy, words, snippets, response types.

mod event;
mod index_text;
mod policy;
mod search_query;
mod slug;
mod snippet;
mod sort;
mod submission;
mod view;
mod words;

pub use event::PageWritten;
pub use index_text::IndexText;
pub use policy::Policy;
pub use search_query::SearchQuery;
pub use slug::{Slug, SlugText};
pub use snippet::snippet;
pub use sort::Sort;
pub use submission::{NewRevision, RevisionDraft};
pub use view::{
    History, HistoryRest, PageRest, PageSummary, PageText, PageView, RevisionRow, RevisionText, SummaryRow,
};

plugin_api::record_id! {
    /// A page.
    PageId, "page";
    /// A revision of a page.
    RevisionId, "revision";
}

//! Types and rules of tools, without a database: checks, queries, events, response types.

mod event;
mod query;
mod submission;
mod view;

pub use event::{DESCRIPTION_EXCERPT_CHARS, ToolPublished};
pub use query::{OnlineOnly, parse_given};
pub use submission::NewTool;
pub use view::{ComputeSpec, ComputeText, ComputeView, ToolKind, ToolSpec, ToolState, ToolText, ToolView};

plugin_api::record_id! {
    /// A tool.
    ToolId, "tool";
}

//! Types and rules of tools, without a database: checks, filters, meaning of probes, response types.

mod event;
mod filter;
mod kind;
mod probe;
mod submission;
mod view;

pub use event::ToolPublished;
pub use filter::{ComputeFilter, ToolFilter};
pub use kind::ToolKind;
pub use probe::{is_alive, means_alive};
pub use submission::{DESCRIPTION_CHARS_MAX, NewTool, SCHEMA_BYTES_MAX, ToolDraft};
pub use view::{ComputeSpec, ComputeText, ComputeView, ToolState, ToolText, ToolView};

use plugin_api::record_id;

record_id!(
    /// A tool.
    ToolId,
    "tool"
);

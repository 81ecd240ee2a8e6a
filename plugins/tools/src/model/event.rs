//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{ToolId, ToolKind};
use plugin_api::Event;
use serde::Serialize;

pub const DESCRIPTION_EXCERPT_CHARS: usize = 160;

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("tool.publish", subject = "tool", id = tool_id)]
pub struct ToolPublished<'a> {
    pub tool_id: ToolId,
    pub name: &'a str,
    pub kind: ToolKind,
    pub url: &'a str,
    /// Whether the tool existed before.
    pub updated: bool,
    /// An excerpt.
    pub description: &'a str,
}

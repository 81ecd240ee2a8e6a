//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{ToolId, ToolKind, ToolText};
use plugin_api::{Address, EventBuilder, HostError, format};
use serde::Serialize;

const DESCRIPTION_CHARS: usize = 160;

/// Data of `tool.publish`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolPublished<'a> {
    tool_id: ToolId,
    name: &'a str,
    kind: ToolKind,
    url: &'a str,
    /// Whether the tool existed before.
    updated: bool,
    /// An excerpt.
    description: String,
}

impl<'a> ToolPublished<'a> {
    pub const TYPE: &'static str = "tool.publish";

    pub fn of(tool_id: ToolId, text: &'a ToolText, updated: bool) -> Self {
        let ToolText { name, kind, url, description, .. } = text;
        let description = format::excerpt(description, DESCRIPTION_CHARS);
        Self { tool_id, name, kind: *kind, url, updated, description }
    }

    pub fn by(&self, owner: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        Ok(EventBuilder::new(Self::TYPE, self).actor(owner).subject("tool", self.tool_id).at(now_s))
    }
}

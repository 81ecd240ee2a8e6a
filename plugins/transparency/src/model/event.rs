//! The event of a new origin: its entry in the new tree names the checkpoint of the old one.

use super::Checkpoint;
use plugin_api::Event;
use serde::Serialize;

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("log.origin")]
pub struct OriginBegun<'a> {
    pub origin: &'a str,
    pub previous: &'a Checkpoint,
}

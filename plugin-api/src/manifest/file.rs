//! Requests of the capability `file`. The text that a file gets is passed separately, as raw bytes.

use serde::{Deserialize, Serialize};

/// A call of one of the plugin's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCall {
    /// Its name: 1 to 64 of a-z, 0-9 and _.
    pub file: String,
    pub operation: FileOperation,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOperation {
    /// The response is the text, or null.
    Read,
    /// A text in; the response is whether the file had the expected text, or was not there when that is null, and has the new one.
    Replace { expected: Option<String> },
}

//! The question whether anything was committed since: who keeps in memory what it made of the database asks whether it is still current.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataVersionResult {
    /// `None` while the gateway cannot tell.
    pub version: Option<String>,
}

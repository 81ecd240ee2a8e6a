//! The question which routes are served, for links to other plugins.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoutesCall {
    /// Paths with parameters, such as `/api/cv/{agent}`; the names of the parameters do not matter.
    pub paths: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoutesResult {
    /// For each path, whether an enabled plugin serves it.
    pub served: Vec<bool>,
}

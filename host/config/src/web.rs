//! `[web]`: the pages for people, which another program serves. Rule: without them no answer names one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validator::Validator;

/// The web site of the network.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebConfig {
    /// Root of the pages; without it, links to pages are null or left out.
    #[schemars(example = "https://network.example")]
    pub base_url: Option<String>,
}

impl WebConfig {
    /// Without a slash at its end.
    pub fn root(&self) -> Option<&str> {
        self.base_url.as_deref().map(|url| url.trim_end_matches('/'))
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if let Some(url) = &self.base_url {
            validator.check_base_url("web.base_url", url);
        }
    }
}

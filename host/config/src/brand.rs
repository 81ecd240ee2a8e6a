//! `[brand]`: the names that clients see and sign. Rule: these bytes are part of what a wallet signs, so nothing here is
//! trimmed, folded or completed; a value that is not valid on the wire is refused.

use http::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validator::Validator;

/// Names on the wire. Change them only together with the clients that sign and read them.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrandConfig {
    /// First line of the message that a wallet signs.
    #[schemars(example = "Service Commons")]
    pub message_line: String,
    /// Beginning of the gateway's own header names; `-Address`, `-Ts`, `-Sig` and others follow.
    #[schemars(example = "X-Service")]
    pub header_prefix: String,
    /// Name of the manifest (`/.well-known/<marker>.json`) and of the field in it that says which protocol this is.
    #[schemars(example = &"service")]
    pub marker: String,
    /// Author name shown for what the network itself did (the zero address).
    #[schemars(example = &"Service")]
    pub network_author: String,
}

impl Default for BrandConfig {
    fn default() -> Self {
        Self {
            message_line: "Service Commons".to_owned(),
            header_prefix: "X-Service".to_owned(),
            marker: "service".to_owned(),
            network_author: "Service".to_owned(),
        }
    }
}

impl BrandConfig {
    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        validator.check_one_line("brand.message_line", &self.message_line);
        validator.check_one_line("brand.network_author", &self.network_author);
        if self.header_prefix.ends_with('-') || HeaderName::from_bytes(self.header_prefix.as_bytes()).is_err() {
            validator.refuse(
                "brand.header_prefix",
                format!("{:?} cannot begin a header name", self.header_prefix),
                "use letters, digits and inner hyphens, such as X-Service",
            );
        }
        if !is_marker(&self.marker) {
            validator.refuse(
                "brand.marker",
                format!("{:?} cannot name the manifest", self.marker),
                "use lower-case letters, digits and hyphens, beginning with a letter, such as service",
            );
        }
    }
}

fn is_marker(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

//! What an error's response has beside the one body: headers, and further members.

use super::ErrorSpec;
use crate::manifest::{ErrorDetail, ErrorDetailIn};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Display;

/// Headers and members of one error; built by the derive of `ApiError`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ErrorDetails {
    #[serde(skip)]
    pub(super) headers: Vec<(String, String)>,
    #[serde(flatten)]
    pub(super) members: Map<String, Value>,
}

impl ErrorDetails {
    pub fn header(mut self, name: &str, value: &impl Display) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    pub(super) fn into_header(self, name: &str) -> Option<String> {
        self.headers.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// A value that cannot be written as JSON is `null`.
    pub fn member(mut self, name: &str, value: &impl Serialize) -> Self {
        self.members.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }
}

impl ErrorDetail {
    #[doc(hidden)]
    pub fn header(spec: ErrorSpec, name: &str) -> Self {
        Self::new(spec, ErrorDetailIn::Header, name, json!({ "type": "string" }))
    }

    #[doc(hidden)]
    pub fn member(spec: ErrorSpec, name: &str, schema: Value) -> Self {
        Self::new(spec, ErrorDetailIn::Body, name, schema)
    }

    fn new(spec: ErrorSpec, place: ErrorDetailIn, name: &str, schema: Value) -> Self {
        Self { status: spec.status, code: spec.code.to_owned(), place, name: name.to_owned(), schema }
    }
}

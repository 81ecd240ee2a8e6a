//! The JSON body of every error, and its response.

use super::{ApiError, ErrorDetails};
use crate::abi::{self, FfiBytes};
use abi_stable::std_types::{RCowStr, RVec, Tuple2};
use serde::Serialize;
use serde_json::Value;

/// The one error body of the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    #[serde(skip)]
    pub status: u16,
    /// For people.
    #[serde(rename = "error")]
    pub message: String,
    /// For programs.
    pub code: String,
    /// What to do next.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// Boxed: few problems have any, and a problem is the error of many functions.
    #[serde(flatten)]
    details: Box<ErrorDetails>,
}

impl Problem {
    pub fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        let (code, hint, details) = (code.to_owned(), String::new(), Box::default());
        Self { status, message: message.into(), code, hint, details }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds a header, for example `www-authenticate`. A value that HTTP does not allow turns the response into a 500.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.details.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a member to the body, beside `error`, `code` and `hint`.
    pub fn member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.members.insert(name.to_owned(), value.into());
        self
    }

    /// The value of a header that was added.
    pub fn header_value(&self, name: &str) -> Option<String> {
        self.details.clone().into_header(name)
    }

    /// The response of this error, for one with a header or member that only some of its responses have.
    pub fn of(error: &impl ApiError) -> Self {
        let (spec, details) = (error.spec(), error.details());
        let problem = Self::new(spec.status, spec.code, error.to_string()).hint(spec.hint);
        Self { details: Box::new(details), ..problem }
    }

    pub(crate) fn into_response(self) -> abi::Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut headers = RVec::from(vec![Tuple2(RCowStr::from("content-type"), RCowStr::from("application/json"))]);
        let has_pause = self.details.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        let own = self.details.headers.into_iter();
        headers.extend(own.map(|(name, value)| Tuple2(RCowStr::from(name), RCowStr::from(value))));
        if self.status == 503 && !has_pause {
            headers.push(Tuple2(RCowStr::from("retry-after"), RCowStr::from("5")));
        }
        abi::Response { status: self.status, headers, body: abi::Body::Full(FfiBytes::from(body)) }
    }
}

//! Errors of routes: one enum per plugin, one table of statuses and codes beside it, one JSON body on the wire.

use crate::abi::{self, Fault, FfiBytes, HostError, HostErrorCode};
use abi_stable::std_types::{RCowStr, RVec, Tuple2};
use serde::Serialize;

/// Status, code and remedy of one kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub status: u16,
    /// For programs; stable.
    pub code: &'static str,
    /// What the caller can do next; may be empty.
    pub hint: &'static str,
}

impl Case {
    pub const fn new(status: u16, code: &'static str, hint: &'static str) -> Self {
        Self { status, code, hint }
    }
}

/// A plugin's errors for the caller. `Display` is the text that the caller reads.
pub trait ApiError: std::error::Error + Send + 'static {
    /// Every case, for the documentation.
    const CASES: &'static [Case];

    fn case(&self) -> Case;
}

/// For routes that have no errors of their own.
#[derive(Debug, thiserror::Error)]
pub enum NoError {}

impl ApiError for NoError {
    const CASES: &'static [Case] = &[];

    fn case(&self) -> Case {
        match *self {}
    }
}

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
}

impl Problem {
    pub fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), code: code.to_owned(), hint: String::new() }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    fn of(error: &impl ApiError) -> Self {
        let case = error.case();
        Self::new(case.status, case.code, error.to_string()).hint(case.hint)
    }

    pub(crate) fn into_response(self) -> abi::Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut headers = RVec::from(vec![Tuple2(RCowStr::from("content-type"), RCowStr::from("application/json"))]);
        if self.status == 503 {
            headers.push(Tuple2(RCowStr::from("retry-after"), RCowStr::from("5")));
        }
        abi::Response { status: self.status, headers, body: abi::Body::Full(FfiBytes::from(body)) }
    }
}

/// The error of a handler: an error for the caller, or a capability that failed.
#[derive(Debug)]
pub enum Failure<E = NoError> {
    Caller(E),
    Problem(Problem),
    Host(HostError),
}

impl<E: ApiError> From<E> for Failure<E> {
    fn from(error: E) -> Self {
        Self::Caller(error)
    }
}

impl<E> From<HostError> for Failure<E> {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl<E> From<Problem> for Failure<E> {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<E: ApiError> Failure<E> {
    /// The response for the caller, or the fault that the gateway logs and turns into a plain 500.
    pub(crate) fn into_handler_response(self) -> Result<abi::Response, Fault> {
        match self {
            Self::Caller(error) => Ok(Problem::of(&error).into_response()),
            Self::Problem(problem) => Ok(problem.into_response()),
            Self::Host(error) => host_error_response(error),
        }
    }
}

fn host_error_response(error: HostError) -> Result<abi::Response, Fault> {
    if error.is(HostErrorCode::Disabled) {
        let problem = Problem::new(503, "disabled", error.message.into_string());
        return Ok(problem.hint("the operator of this gateway can switch it on; see /api/status").into_response());
    }
    let transient = [HostErrorCode::Unavailable, HostErrorCode::Timeout, HostErrorCode::Conflict];
    if !transient.iter().any(|code| error.is(*code)) {
        return Err(super::fence::error_fault(error));
    }
    let problem = Problem::new(503, "unavailable", "the gateway cannot reach its data right now");
    Ok(problem
        .hint("repeat the same request in a few seconds; if a signed write took effect after all, the answer is 409 replay")
        .into_response())
}

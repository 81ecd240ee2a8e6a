//! Errors of routes: one enum per plugin with a status and a code for each kind, one JSON body on the wire.

use super::{ErrorDetails, FetchError, fetch_error::fetch_problem};
use crate::{
    abi::{self, Fault, FfiBytes, HostError, HostErrorCode},
    manifest::ErrorDetail,
};
use abi_stable::std_types::{RCowStr, RVec, Tuple2};
use schemars::SchemaGenerator;
use serde::Serialize;
use serde_json::Value;

/// Status, code and hint of one kind of error.
///
/// ```
/// use plugin_api::ErrorSpec;
///
/// /// Several variants of an error have it: `#[api(NOT_FOUND)]`.
/// const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/notes lists the notes there are");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorSpec {
    pub status: u16,
    /// For programs; stable.
    pub code: &'static str,
    /// What the caller can do next.
    pub hint: &'static str,
}

impl ErrorSpec {
    pub const fn new(status: u16, code: &'static str, hint: &'static str) -> Self {
        Self { status, code, hint }
    }
}

/// A plugin's errors for the caller. The derive implements `Display`, the text that the caller reads, and `Error`, too.
///
/// `#[api(status, "code", "text", hint = "…")]` stands above each variant. `#[api(status, "code", hint = "…")]` above the enum is for all
/// variants that have a text only: `#[api("text")]`. The hint may be a constant, and `#[api(NAME, "text")]` takes all but the text from a
/// constant of the type [`ErrorSpec`]. `#[api(transparent)]` takes all of it from the one field of the variant, which is an `ApiError`, too.
///
/// The text is written as by `format!`: `{bytes}` and `{0}` are fields, `{BODY_BYTES_MAX}` is a constant in scope, and `{0:?}` has a format.
/// `#[from]` above the only field of a variant makes a `From`, so that `?` converts it.
///
/// After hint, constant or text, `header("retry-after" = seconds)` sends a field of the variant as a header, and
/// `member("nextAt" = next_at)` as a member of the body; a field without a name is `0`. A header's field is a `Display` whose text
/// HTTP allows, a member's is `Serialize` and `JsonSchema`. The documentation of the route lists both.
///
/// ```
/// use plugin_api::{ApiError, ErrorSpec, content::ContentError};
///
/// const BODY_BYTES_MAX: usize = 16_384;
/// const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/notes lists the notes there are");
///
/// #[derive(Debug, ApiError)]
/// #[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
/// enum NotesError {
///     #[api("title: 1 to 80 characters are needed")]
///     Title,
///     #[api(413, "too_large", "body: {bytes} bytes are more than {BODY_BYTES_MAX}", hint = "write several notes")]
///     TooLarge { bytes: usize },
///     #[api(NOT_FOUND, "unknown note {0}")]
///     UnknownNote(i64),
///     #[api(
///         429,
///         "too_soon",
///         "one note in a minute: wait {seconds} s",
///         hint = "wait",
///         header("retry-after" = seconds),
///         member("lastId" = last_id)
///     )]
///     TooSoon { seconds: u32, last_id: i64 },
///     #[api(transparent)]
///     Content(#[from] ContentError),
/// }
///
/// assert_eq!(NotesError::Title.spec().code, "bad_request");
/// assert_eq!(NotesError::UnknownNote(7).spec(), NOT_FOUND);
/// assert_eq!(NotesError::TooLarge { bytes: 20_000 }.to_string(), "body: 20000 bytes are more than 16384");
/// assert_eq!(NotesError::UnknownNote(7).to_string(), "unknown note 7");
/// let content = NotesError::from(ContentError::Missing);
/// assert_eq!(content.spec(), ContentError::Missing.spec());
/// assert_eq!(content.to_string(), ContentError::Missing.to_string());
/// ```
///
/// ```compile_fail
/// # use plugin_api::ApiError;
/// #[derive(Debug, ApiError)]
/// enum NotesError {
///     #[api("unknown note {0}")]
///     UnknownNote(i64), // it has no status: write #[api(404, "not_found", "unknown note {0}", hint = "…")] …
/// }
/// ```
pub trait ApiError: std::error::Error + Send + 'static {
    /// Every kind of error, for the documentation. Equal ones count once.
    const SPECS: &'static [ErrorSpec];

    fn spec(&self) -> ErrorSpec;

    /// Headers and members of this error's response; written by the derive.
    #[doc(hidden)]
    fn details(&self) -> ErrorDetails {
        ErrorDetails::default()
    }

    /// The value of a header of this error's response, for another protocol that carries the error.
    fn header_value(&self, name: &str) -> Option<String> {
        self.details().into_header(name)
    }

    /// All headers and members, for the documentation; written by the derive.
    #[doc(hidden)]
    fn describe_details(_: &mut SchemaGenerator) -> Vec<ErrorDetail> {
        Vec::new()
    }
}

/// Number of specs in all parts; for the derive.
pub const fn count_specs(parts: &[&[ErrorSpec]]) -> usize {
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// The specs of all parts; for the derive. `COUNT` is [`count_specs`].
pub const fn join_specs<const COUNT: usize>(parts: &[&[ErrorSpec]]) -> [ErrorSpec; COUNT] {
    let mut all = [ErrorSpec::new(500, "", ""); COUNT];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[next] = parts[part][index];
            index += 1;
            next += 1;
        }
        part += 1;
    }
    all
}

/// For routes that have no errors of their own.
#[derive(Debug, thiserror::Error)]
pub enum NoError {}

impl ApiError for NoError {
    const SPECS: &'static [ErrorSpec] = &[];

    fn spec(&self) -> ErrorSpec {
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

/// The error of a handler: an error for the caller, or a capability that failed.
///
/// ```
/// use plugin_api::{ApiError, HandlerError, Json, Path, Query, RequestContext, sql};
///
/// #[derive(Debug, ApiError)]
/// #[api(404, "not_found", "unknown note {0}", hint = "GET /api/notes lists the notes there are")]
/// struct UnknownNote(i64);
///
/// # struct Notes;
/// /// A failed statement becomes a 500 or 503, the plugin's own error the response that it describes.
/// async fn get_note(cx: RequestContext<Notes>, Path(id): Path<i64>) -> Result<Json<String>, HandlerError<UnknownNote>> {
///     let text = cx.db().row(sql("SELECT text FROM notes_notes WHERE id = $1").bind(id)).await?;
///     Ok(Json(text.ok_or(UnknownNote(id))?))
/// }
/// ```
#[derive(Debug)]
pub enum HandlerError<E = NoError> {
    Caller(E),
    Problem(Problem),
    Host(HostError),
}

impl<E: ApiError> From<E> for HandlerError<E> {
    fn from(error: E) -> Self {
        Self::Caller(error)
    }
}

impl<E> From<HostError> for HandlerError<E> {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl<E> From<FetchError> for HandlerError<E> {
    fn from(error: FetchError) -> Self {
        Self::Host(error.into())
    }
}

impl<E> From<Problem> for HandlerError<E> {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<E: ApiError> HandlerError<E> {
    /// The response for the caller, or the fault that the gateway logs and turns into a plain 500.
    pub(crate) fn into_handler_response(self) -> Result<abi::Response, Fault> {
        match self {
            Self::Caller(error) => Ok(Problem::of(&error).into_response()),
            Self::Problem(problem) => Ok(problem.into_response()),
            Self::Host(error) => match super::list::problem_of(&error) {
                Some(problem) => Ok(problem.into_response()),
                None => host_error_response(error),
            },
        }
    }
}

/// With the database's reason, which holds no values and no addresses. Those of chains may name servers.
fn unavailable_message(reason: &str) -> String {
    if reason.starts_with("the database ") {
        format!("the gateway cannot store or read this right now: {reason}")
    } else {
        "the gateway cannot reach its data right now".to_owned()
    }
}

fn host_error_response(error: HostError) -> Result<abi::Response, Fault> {
    if error.is(HostErrorCode::Fetch) {
        let problem = fetch_problem(&error);
        return problem.map(Problem::into_response).ok_or_else(|| super::fence::error_fault(error));
    }
    if error.is(HostErrorCode::Disabled) {
        let problem = Problem::new(503, "disabled", error.message.into_string());
        return Ok(problem.hint("GET /api/status says what is off on this gateway").into_response());
    }
    if error.is(HostErrorCode::Conflict) {
        let problem = Problem::new(503, "busy", "too many requests write the same at this moment");
        let hint = "nothing was written: repeat the same request in a second";
        return Ok(problem.hint(hint).header("retry-after", "1").into_response());
    }
    let problem = if error.is(HostErrorCode::Unavailable) {
        Problem::new(503, "unavailable", unavailable_message(&error.message))
    } else if error.is(HostErrorCode::Timeout) {
        Problem::new(503, "timeout", error.message.into_string())
    } else if error.is(HostErrorCode::Busy) {
        Problem::new(503, "busy", error.message.into_string())
    } else {
        return Err(super::fence::error_fault(error));
    };
    Ok(problem
        .hint("repeat the same request in a few seconds; if a signed write took effect after all, the answer is 409 replay")
        .into_response())
}

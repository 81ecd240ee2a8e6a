//! Errors of routes: one enum per plugin with a status and a code for each kind.

use super::{ErrorDetails, ErrorSpec};
use crate::manifest::ErrorDetail;
use schemars::SchemaGenerator;

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

/// For routes that have no errors of their own.
#[derive(Debug, thiserror::Error)]
pub enum NoError {}

impl ApiError for NoError {
    const SPECS: &'static [ErrorSpec] = &[];

    fn spec(&self) -> ErrorSpec {
        match *self {}
    }
}

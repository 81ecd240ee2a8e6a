//! The error of a handler, and its response.

use super::{ApiError, FetchError, Problem, api_error::NoError, fetch_error::fetch_problem};
use crate::abi::{self, Fault, HostError, HostErrorCode};

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

//! An error response: status, code, text, remedy.
//!
//! The rule: internal causes go to the log; the body of a 5xx says only what the caller can do.

use crate::routes::RateLimitExceeded;
use gateway_http::{
    body::{Body, BodyError},
    problem::problem_response,
};
use gateway_plugins::{ActivePlugin, CallError, PausedOperation};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use jiff::Timestamp;

/// What to do when a write may have taken effect.
const REPEAT: &str =
    "repeat the same request in a few seconds; if a signed write took effect after all, the answer is 409 replay";

pub struct ErrorResponse(Box<Response<Body>>);

impl ErrorResponse {
    pub fn new(status: u16, code: &str, message: impl Into<String>, hint: &str) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self(Box::new(problem_response(status, code, message, hint)))
    }

    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }

    pub fn into_response(self) -> Response<Body> {
        *self.0
    }

    pub fn internal() -> Self {
        Self::new(
            500,
            "internal",
            "the gateway failed to answer this request",
            "tell the operator the x-request-id of this answer",
        )
    }

    /// A streamed answer whose source broke off before its first chunk.
    pub fn broken_source() -> Self {
        Self::new(502, "broken_answer", "another server failed, which this request needs", "repeat it later")
    }

    pub fn timed_out() -> Self {
        Self::new(503, "timeout", "the feature did not answer in time", "nothing was written; try again later")
            .header(http::header::RETRY_AFTER, "5")
    }

    /// As [`Self::timed_out`], when the commit of the write had begun.
    pub fn timed_out_in_commit() -> Self {
        Self::new(503, "timeout", "the feature did not answer in time", REPEAT).header(http::header::RETRY_AFTER, "5")
    }

    /// Too many searches run at this moment.
    pub fn busy() -> Self {
        Self::new(503, "busy", "too many searches at the same time", "try again in a second")
            .header(http::header::RETRY_AFTER, "1")
    }

    /// A statement was too slow: the database is there. `reason` as of [`Self::unavailable`].
    pub fn database_slow(reason: &str) -> Self {
        Self::new(503, "timeout", reason, REPEAT).header(http::header::RETRY_AFTER, "5")
    }

    /// A statement waited too long for its turn. `reason` as of [`Self::unavailable`].
    pub fn database_busy(reason: &str) -> Self {
        Self::new(503, "busy", reason, REPEAT).header(http::header::RETRY_AFTER, "5")
    }

    /// Others wrote the same in each attempt of a write.
    pub fn gave_up_on_conflicts() -> Self {
        let message = "too many requests write the same at this moment";
        Self::new(503, "busy", message, "nothing was written: repeat the same request in a second")
            .header(http::header::RETRY_AFTER, "1")
    }

    /// To a request that no route takes while a plugin starts.
    pub fn still_starting() -> Self {
        let message = "no such route yet: plugins are still starting, and it may be a route of theirs";
        Self::new(503, "unavailable", message, "repeat the same request in a second")
            .header(http::header::RETRY_AFTER, "1")
    }

    /// `reason`: a line of the storage, which contains no values and no addresses.
    pub fn unavailable(reason: &str) -> Self {
        Self::new(503, "unavailable", format!("the gateway cannot store or read this right now: {reason}"), REPEAT)
            .header(http::header::RETRY_AFTER, "5")
    }

    /// Callers learn whether somebody switched it off or it failed; what failed is for the operator.
    pub fn not_serving(plugin: &ActivePlugin) -> Self {
        let hint = if plugin.handle.gate.is_closed() {
            "its code did not give a thread back, and it waits for the operator to resume it; GET /api lists what is there"
        } else if plugin.handle.is_fenced() {
            "it failed too often, and waits for the operator to resume it; GET /api lists what is there"
        } else {
            "the operator switched it off or is restarting it; GET /api lists what is there"
        };
        let message = format!("{} is not serving", plugin.name());
        Self::new(503, "disabled", message, hint).header(http::header::RETRY_AFTER, "30")
    }

    /// The response to a call that gave nothing.
    pub fn of_call(plugin: &ActivePlugin, error: &CallError) -> Self {
        match error {
            CallError::Draining | CallError::Fenced => Self::not_serving(plugin),
            CallError::Paused(paused) => Self::paused(paused, plugin.handle.now_ms()),
            CallError::TimedOut(_) => Self::timed_out(),
            CallError::Fault(_) | CallError::Excused | CallError::Invalid(_) => Self::internal(),
        }
    }

    /// The operation failed too often. Its plugin serves the others.
    fn paused(paused: &PausedOperation, now_ms: i64) -> Self {
        let until = Timestamp::from_millisecond(paused.until_ms).unwrap_or_default().strftime("%FT%TZ");
        let message = format!("{} failed too often and is paused until {until}", paused.operation);
        // At that time one call is tried; those beside it come a little later.
        let retry_after_s = paused.retry_after_s(now_ms).max(1);
        let hint = "it is tried again by itself then; other operations are served";
        Self::new(503, "paused", message, hint).header(http::header::RETRY_AFTER, &retry_after_s.to_string())
    }
}

impl From<Response<Body>> for ErrorResponse {
    fn from(response: Response<Body>) -> Self {
        Self(Box::new(response))
    }
}

impl From<RateLimitExceeded> for ErrorResponse {
    fn from(exceeded: RateLimitExceeded) -> Self {
        let message = format!("at most {} calls in any {} s from one address", exceeded.calls, exceeded.window_s);
        let hint = format!("wait {} s", exceeded.retry_after_s);
        let mut refused = Self::new(429, &exceeded.code, message, &hint)
            .header(http::header::RETRY_AFTER, &exceeded.retry_after_s.to_string());
        exceeded.quota.write(refused.0.headers_mut());
        refused
    }
}

impl From<BodyError> for ErrorResponse {
    fn from(error: BodyError) -> Self {
        Self(Box::new(error.into_response()))
    }
}

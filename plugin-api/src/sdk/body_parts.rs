//! The extractor that reads a body while it arrives.

use super::{FromRequest, Problem, Request, RequestContext, RouteDescription};
use crate::abi::{FfiBytes, HostError};

/// The body in parts, while it arrives: for bodies that are stored or passed on piece by piece. Public routes only, because a
/// signature covers the whole body.
///
/// ```
/// use plugin_api::{HandlerError, Json, RequestContext, Route, extract::BodyParts};
///
/// # struct Notes;
/// async fn measure(cx: RequestContext<Notes>, mut body: BodyParts) -> Result<Json<usize>, HandlerError> {
///     let mut size = 0;
///     while let Some(part) = body.next(&cx).await? {
///         size += part.len();
///     }
///     Ok(Json(size))
/// }
/// # let _ = Route::<Notes>::post("/api/notes/measure", measure).public();
/// ```
pub struct BodyParts(());

impl BodyParts {
    /// The next bytes; `None` at the end. Return the error of a body that is too large, too slow or cut off: the gateway
    /// answers it.
    pub async fn next<P>(&mut self, cx: &RequestContext<P>) -> Result<Option<FfiBytes>, HostError> {
        cx.next_body_part().await
    }
}

impl FromRequest for BodyParts {
    fn from_request(_: &mut Request) -> Result<Self, Problem> {
        Ok(Self(()))
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.spec.streams_body = true;
    }
}

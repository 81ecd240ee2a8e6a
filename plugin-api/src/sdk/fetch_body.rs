//! The body of a response from outside, read while it arrives.

use super::{FetchError, write_scope};
use crate::abi::{FetchBodyBox, FfiBytes, HostError, HostErrorCode};
use async_ffi::{ContextExt as _, FfiPoll};
use futures_core::Stream;
use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

/// The body of a response whose head is there: [`Fetch::stream`](crate::Fetch::stream). The bytes are as received:
/// nothing is decompressed. Who passes on a body whose response has the header `content-encoding` passes on that header, too:
/// [`WithHeader`](crate::response::WithHeader).
///
/// Who does not read stops the sender: no more than one chunk and what the connection has buffered is in memory. Until its end,
/// a body holds a connection and one of the plugin's outbound requests (`egress.per_plugin_concurrency`), so drop what you do not
/// read. A body that breaks off, says nothing for too long or is too long ends with an error, never like a complete one; so does one
/// that is read while its plugin is fenced or stopped.
///
/// A handler passes it on, and reads no more than its client does. A client that leaves ends it:
///
/// ```
/// use plugin_api::handles::FetchBody;
/// use plugin_api::{Fetch, HandlerError, RequestContext, response::StreamBody};
///
/// # struct Relay;
/// async fn relay_events(cx: RequestContext<Relay>) -> Result<StreamBody<FetchBody>, HandlerError> {
///     let events = Fetch::get("https://agent.example/events").stream(&cx).await?.error_for_status()?;
///     Ok(StreamBody::new(&cx, "text/event-stream", events.body).head_at_once())
/// }
/// # plugin_api::Route::<Relay>::get("/api/relay/events", relay_events);
/// ```
///
/// Or it reads the chunks itself:
///
/// ```
/// use plugin_api::{Fetch, HostHandle, handles::FetchError};
///
/// async fn count_lines(host: &HostHandle, url: &str) -> Result<usize, FetchError> {
///     let mut response = Fetch::get(url).stream(host).await?.error_for_status()?;
///     let mut lines = 0;
///     while let Some(chunk) = response.body.chunk().await? {
///         lines += chunk.iter().filter(|byte| **byte == b'\n').count();
///     }
///     Ok(lines)
/// }
/// ```
pub struct FetchBody(FetchBodyBox);

impl FetchBody {
    pub(crate) const fn new(body: FetchBodyBox) -> Self {
        Self(body)
    }

    /// The next bytes, never none of them; `None` at the end. After an error there is nothing more.
    pub async fn chunk(&mut self) -> Result<Option<FfiBytes>, FetchError> {
        let chunk = poll_fn(|context| self.poll_chunk(context)).await;
        chunk.transpose().map_err(FetchError::from)
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<FfiBytes, HostError>>> {
        if let Err(error) = write_scope::check_outside("a part of a fetched body") {
            return Poll::Ready(Some(Err(error)));
        }
        match context.with_ffi_context(|context| self.0.poll_next(context)) {
            FfiPoll::Pending => Poll::Pending,
            FfiPoll::Ready(chunk) => Poll::Ready(chunk.into_option().map(Into::into)),
            FfiPoll::Panicked => {
                Poll::Ready(Some(Err(HostError::new(HostErrorCode::Internal, "the gateway failed to read a body"))))
            }
        }
    }
}

/// The object is boxed and never pinned.
impl Unpin for FetchBody {}

impl Stream for FetchBody {
    type Item = Result<FfiBytes, HostError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_chunk(context)
    }
}

impl fmt::Debug for FetchBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchBody").finish_non_exhaustive()
    }
}

//! Outbound HTTP of a plugin: whole responses, and responses whose body it reads while it arrives.
//!
//! The rule: a body that a plugin reads is over when the plugin stops, whether or not it is read then.

use crate::plugin::PluginHandle;
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{ROption, RResult},
};
use async_ffi::{FfiContext, FfiPoll};
use bytes::Bytes;
use futures_util::Stream as _;
use gateway_egress::{Egress, EgressError, FetchRequest, Overflow, ResponseBody, StreamTimeouts};
use parking_lot::Mutex;
use plugin_api::{
    abi::{CapabilityResponse, FetchBody, FetchBody_TO, FfiBytes, HostError, HostErrorCode, StreamedResponse},
    host::decode_call,
    manifest::{FetchCall, FetchHead},
};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};
use tokio::task::AbortHandle;

/// The capability `fetch`.
pub(crate) async fn collected(
    egress: &Egress,
    plugin: &PluginHandle,
    request: &[u8],
    body: FfiBytes,
) -> Result<CapabilityResponse, HostError> {
    let request = fetch_request(decode_call::<FetchCall>("a fetch", request)?, body);
    let fetched = egress.fetch(&plugin.name, request).await.map_err(fetch_error)?;
    let head = FetchHead { status: fetched.status, headers: fetched.headers, url: fetched.url };
    Ok(CapabilityResponse { response: head_json(&head)?, body: FfiBytes::from_owner(fetched.body) })
}

/// [`plugin_api::abi::Host::fetch_streamed`].
pub(crate) async fn streamed(
    egress: &Egress,
    plugin: &PluginHandle,
    request: &[u8],
    body: FfiBytes,
) -> Result<StreamedResponse, HostError> {
    let call = decode_call::<FetchCall>("a fetch", request)?;
    let timeouts = StreamTimeouts { idle_ms: call.idle_timeout_ms, total_ms: call.total_timeout_ms };
    let request = fetch_request(call, body);
    let response = egress.stream(&plugin.name, request, timeouts).await.map_err(fetch_error)?;
    let head = FetchHead { status: response.status, headers: response.headers, url: response.url };
    let body = FetchedBody::new(plugin, response.body);
    Ok(StreamedResponse { head: head_json(&head)?, body: FetchBody_TO::from_value(body, TD_Opaque) })
}

fn fetch_request(call: FetchCall, body: FfiBytes) -> FetchRequest {
    FetchRequest {
        method: call.method,
        url: call.url,
        headers: call.headers,
        body: Bytes::from_owner(body),
        timeout_ms: call.timeout_ms,
        response_bytes_max: call.response_bytes_max,
        redirects_max: call.redirects_max,
        is_background: call.background,
        overflow: if call.cuts_overflow { Overflow::Truncate } else { Overflow::Fail },
    }
}

fn head_json(head: &FetchHead) -> Result<FfiBytes, HostError> {
    let json = serde_json::to_vec(head);
    json.map(FfiBytes::from).map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))
}

/// `code: text`, or `code seconds: text` where it is known when to try again.
fn fetch_error(error: EgressError) -> HostError {
    let retry_after = error.retry_after_s().map(|seconds| format!(" {seconds}")).unwrap_or_default();
    HostError::new(HostErrorCode::Fetch, format!("{}{retry_after}: {error}", error.code()))
}

/// A body in the hands of a plugin.
struct FetchedBody {
    state: Arc<Mutex<BodyState>>,
    /// Ends the body when the plugin stops.
    stopper: AbortHandle,
}

enum BodyState {
    Open {
        body: Box<ResponseBody>,
        reader: Option<Waker>,
    },
    /// The reader has not been told yet.
    Stopped,
    Over,
}

impl FetchedBody {
    fn new(plugin: &PluginHandle, body: ResponseBody) -> Self {
        let state = Arc::new(Mutex::new(BodyState::Open { body: Box::new(body), reader: None }));
        let (stopped, stop) = (state.clone(), plugin.stop.clone());
        let stopper = plugin.tasks.spawn(async move {
            stop.cancelled().await;
            stopped.lock().stop();
        });
        Self { state, stopper: stopper.abort_handle() }
    }
}

impl Drop for FetchedBody {
    fn drop(&mut self) {
        self.stopper.abort();
    }
}

impl BodyState {
    fn stop(&mut self) {
        if let Self::Open { reader, .. } = self {
            let reader = reader.take();
            *self = Self::Stopped;
            reader.into_iter().for_each(Waker::wake);
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HostError>>> {
        let next = match self {
            Self::Open { body, reader } => match Pin::new(body).poll_next(context) {
                Poll::Pending => {
                    *reader = Some(context.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(next) => next.map(|chunk| chunk.map_err(fetch_error)),
            },
            Self::Stopped => {
                let message = "stopped: the plugin was stopped while it read a response";
                Some(Err(HostError::new(HostErrorCode::Fetch, message)))
            }
            Self::Over => None,
        };
        if !matches!(next, Some(Ok(_))) {
            *self = Self::Over;
        }
        Poll::Ready(next)
    }
}

impl FetchBody for FetchedBody {
    fn poll_next(&mut self, context: &mut FfiContext<'_>) -> FfiPoll<ROption<RResult<FfiBytes, HostError>>> {
        match context.with_context(|context| self.state.lock().poll_next(context)) {
            Poll::Pending => FfiPoll::Pending,
            Poll::Ready(next) => {
                if !matches!(next, Some(Ok(_))) {
                    self.stopper.abort();
                }
                FfiPoll::Ready(next.map(|chunk| chunk.map(FfiBytes::from_owner).into()).into())
            }
        }
    }
}

//! One log line per request, written when its response has been sent. Rule: a line never holds a body or a query
//! string, because they can contain signatures, nor a path whose route says that it is private.

use super::client_ip::ClientIp;
use super::middleware_layer::Middleware;
use super::request_id::RequestId;
use crate::body::{Body, RequestBody};
use bytes::Bytes;
use gateway_activity::BypassBytes;
use gateway_telemetry::ACCESS_TARGET;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body::{Body as _, Frame, SizeHint};
use std::io;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tracing::Level;

/// A longer path is cut in the log.
const PATH_MAX: usize = 256;

/// Response extension, set by the router: the plugin and operation that handled the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteLabel {
    pub plugin: Arc<str>,
    pub operation: Arc<str>,
    /// Logged in place of the request's path, which is private.
    pub path: Option<Arc<str>>,
}

#[derive(Clone, Copy)]
pub(crate) struct AccessLog;

impl Middleware for AccessLog {
    type State = Option<AccessLogEntry>;

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, Option<AccessLogEntry>> {
        let enabled = tracing::enabled!(target: ACCESS_TARGET, Level::INFO);
        ControlFlow::Continue(enabled.then(|| AccessLogEntry::new(request)))
    }

    fn on_response(&self, entry: Option<AccessLogEntry>, response: &mut Response<Body>) {
        let Some(mut entry) = entry else { return };
        entry.status = Some(response.status());
        entry.latency = entry.started.elapsed();
        entry.route = response.extensions().get().cloned();
        entry.bypass_bytes = response.extensions().get().cloned();
        let body = response.body_mut();
        match body.size_hint().exact() {
            Some(length) => entry.bytes = length,
            None => {
                entry.release_head();
                *body = Body::Boxed(Box::pin(CountedBody { body: std::mem::take(body), entry }));
            }
        }
    }
}

/// Writes its line when it is dropped, so that a client that disconnects early is logged too.
pub(crate) struct AccessLogEntry {
    started: Instant,
    method: Method,
    uri: Uri,
    client: Option<IpAddr>,
    id: Option<RequestId>,
    status: Option<StatusCode>,
    latency: Duration,
    bytes: u64,
    bypass_bytes: Option<BypassBytes>,
    route: Option<RouteLabel>,
}

impl AccessLogEntry {
    fn new(request: &Request<RequestBody>) -> Self {
        let extensions = request.extensions();
        Self {
            started: Instant::now(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            client: extensions.get().map(|ClientIp(ip)| *ip),
            id: extensions.get().cloned(),
            status: None,
            latency: Duration::ZERO,
            bytes: 0,
            bypass_bytes: None,
            route: None,
        }
    }

    /// Copies the path. As a part of the head it keeps hyper's buffer, 8 KiB, as long as the stream lasts.
    fn release_head(&mut self) {
        self.uri = self.path().parse().unwrap_or_default();
    }

    fn path(&self) -> &str {
        let path = self.uri.path();
        path.get(..path.floor_char_boundary(PATH_MAX)).unwrap_or(path)
    }

    /// The path, unless it is private. Of a request that no route answered nobody knows: only the beginning is logged.
    fn public_path(&self) -> &str {
        match &self.route {
            Some(RouteLabel { path: Some(path), .. }) => path,
            Some(_) => self.path(),
            None => beginning(self.path()),
        }
    }
}

impl Drop for AccessLogEntry {
    fn drop(&mut self) {
        let (plugin, operation) = match &self.route {
            Some(route) => (Some(&*route.plugin), Some(&*route.operation)),
            None => (None, None),
        };
        let has_response = self.status.is_some();
        let latency = if has_response { self.latency } else { self.started.elapsed() };
        tracing::info!(
            target: ACCESS_TARGET,
            method = self.method.as_str(),
            path = self.public_path(),
            status = self.status.map(|status| status.as_u16()),
            latency_ms = milliseconds(latency),
            bytes = self.bytes + self.bypass_bytes.as_ref().map_or(0, |BypassBytes(count)| count.load(Relaxed)),
            client_ip = self.client.map(tracing::field::display),
            request_id = self.id.as_ref().map(|id| &*id.0),
            plugin,
            operation,
            "{}",
            if has_response { "request" } else { "request given up by its client" },
        );
    }
}

/// To the microsecond: more digits are noise.
fn milliseconds(latency: Duration) -> f64 {
    (latency.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

/// The first two segments of a path, which name a feature; not an id or a name below it.
fn beginning(path: &str) -> &str {
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(at, _)| at + 1);
    path.get(..end).unwrap_or(path)
}

/// Counts the bytes of a stream, whose length is known only at its end.
struct CountedBody {
    body: Body,
    entry: AccessLogEntry,
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.entry.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_stream_does_not_keep_the_buffer_of_its_request() {
        let buffer = Bytes::from("/api/stream?since=1".to_owned());
        let uri = Uri::from_maybe_shared(buffer.clone()).unwrap();
        let request = Request::builder().uri(uri).body(RequestBody::from(Bytes::new())).unwrap();
        let mut entry = AccessLogEntry::new(&request);
        drop(request);
        assert!(!buffer.is_unique());
        entry.release_head();
        assert!(buffer.is_unique());
        assert_eq!(entry.path(), "/api/stream");
    }

    #[test]
    fn a_private_path_is_not_logged_and_without_a_route_only_its_beginning() {
        let request = Request::builder().uri("/api/memory/diary").body(RequestBody::from(Bytes::new())).unwrap();
        let mut entry = AccessLogEntry::new(&request);
        assert_eq!(entry.public_path(), "/api/memory/");
        let label = |path: Option<&str>| RouteLabel {
            plugin: "memory".into(),
            operation: "get_memory".into(),
            path: path.map(Into::into),
        };
        entry.route = Some(label(Some("/api/memory/{key}")));
        assert_eq!(entry.public_path(), "/api/memory/{key}");
        entry.route = Some(label(None));
        assert_eq!(entry.public_path(), "/api/memory/diary");
        for (path, logged) in
            [("/", "/"), ("/hello", "/hello"), ("/a/b", "/a/b"), ("/a/b/", "/a/b/"), ("//x/y", "//x/")]
        {
            assert_eq!(beginning(path), logged, "{path}");
        }
    }
}

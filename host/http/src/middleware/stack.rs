//! The layers of a request, top to bottom on the way in, bottom to top on the way out. Rule: the order decides what
//! each layer sees; each line gives the reason for its position.

use super::accept_encoding::AcceptEncoding;
use super::access_log::AccessLog;
use super::catch_panic::CatchPanicLayer;
use super::client_ip::SetClientIp;
use super::compression::CompressionLayer;
use super::cors_preflight::CorsPreflight;
use super::deadline::DeadlineLayer;
use super::exposed_headers::ExposedHeaders;
use super::head_error_response::HeadErrorResponse;
use super::head_method::HeadMethod;
use super::host_header::HostHeader;
use super::in_flight_limit::InFlightLimit;
use super::middleware_layer::MiddlewareLayer;
use super::request_id::SetRequestId;
use super::request_span::TraceRequest;
use super::response_headers::ResponseHeaders;
use crate::http_service::HttpService;
use gateway_config::HttpConfig;
use std::time::Duration;
use tower::ServiceBuilder;

pub(crate) fn stack<S: HttpService>(
    http: &HttpConfig,
    response_timeout: Duration,
    exposed_headers: ExposedHeaders,
    gateway: S,
) -> impl HttpService + use<S> {
    let cors = http.cors.then_some(exposed_headers);
    ServiceBuilder::new()
        // First, so that every line of the log below has the id.
        // Not tower-http's request id, which keeps any id that a caller sends.
        .layer(MiddlewareLayer(SetRequestId))
        // Directly below, so that a span has the id as well, and every refusal its status.
        .layer(MiddlewareLayer(TraceRequest))
        // Cannot fail, and the access log needs its result.
        .layer(MiddlewareLayer(SetClientIp { trusted_proxy_hops: http.trusted_proxy_hops }))
        // Above every layer that may refuse: refusals are logged like other responses.
        .layer(MiddlewareLayer(AccessLog))
        // Below the log, which counts the bytes that are sent; above the rest, whose errors have bodies too.
        .layer(MiddlewareLayer(HeadMethod))
        // Above the panics and every refusal: these headers belong on errors as well.
        .layer(MiddlewareLayer(ResponseHeaders { cors }))
        // Everything below may panic without harm to the connection's other requests.
        // Not tower-http's, which boxes every body and hides the request id, which the log needs, from its handler.
        .layer(CatchPanicLayer)
        // Before any layer that acts on a request: its head must be valid, and it must be for this host.
        .layer(MiddlewareLayer(HeadErrorResponse))
        .layer(MiddlewareLayer(HostHeader))
        // After the checks, before the limits: a preflight costs no handler.
        // Not tower-http's CORS, which responds to every OPTIONS, with 200, and echoes the requested headers unchecked.
        .layer(MiddlewareLayer(CorsPreflight { enabled: http.cors }))
        // Outside the limits, so that compression does not hold a permit.
        .layer(MiddlewareLayer(AcceptEncoding))
        .layer(CompressionLayer { enabled: http.compression })
        // Only requests that reach the gateway take a permit ...
        // Not tower's limit with load shedding, which fails with a boxed error instead of a response.
        .layer(MiddlewareLayer(InFlightLimit::new(http.requests_in_flight_max)))
        // ... and the deadline returns it.
        // Not tower-http's timeout, whose response has no body and which registers a timer for every request.
        .layer(DeadlineLayer(response_timeout))
        .service(gateway)
}

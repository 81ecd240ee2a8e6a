//! The way of a request through the edge, top to bottom on the way in, bottom to top on the way out. Rule: the order is the
//! meaning; each line says why it stands where it stands.

use super::access_log::AccessLog;
use super::client_ip::ClientIps;
use super::compression::{AcceptableCodings, CompressionLayer};
use super::cors::Cors;
use super::deadline::DeadlineLayer;
use super::head_method::HeadMethod;
use super::host_header::HostHeader;
use super::in_flight::InFlight;
use super::panic_fence::PanicFenceLayer;
use super::preflight::Preflight;
use super::refused_head::RefusedHead;
use super::request_id::RequestIds;
use super::security_headers::SecurityHeaders;
use super::settings::EdgeSettings;
use super::stage::{HttpService, StageLayer};
use tower::ServiceBuilder;

pub fn stack<S: HttpService>(settings: &EdgeSettings, cors: Cors, gateway: S) -> impl HttpService + use<S> {
    ServiceBuilder::new()
        // First, so that whatever happens below can be named.
        .layer(StageLayer(RequestIds))
        // Cannot fail, and the log wants its result.
        .layer(StageLayer(ClientIps { trusted_proxy_hops: settings.http.trusted_proxy_hops }))
        // Above all that may refuse: refusals are logged like answers.
        .layer(StageLayer(AccessLog))
        // Below the log, which counts the bytes that are sent; above the rest, whose errors have bodies too.
        .layer(StageLayer(HeadMethod))
        // Above the fence and every refusal: these headers belong on errors as well.
        .layer(StageLayer(SecurityHeaders))
        .layer(StageLayer(cors))
        // Everything below may panic without harm to the connection's other requests.
        .layer(PanicFenceLayer)
        // Before anything acts on a request: could it be read, and is it for us?
        .layer(StageLayer(RefusedHead))
        .layer(StageLayer(HostHeader))
        // After the checks, before the limits: a browser's question is no work.
        .layer(StageLayer(Preflight { enabled: settings.http.cors }))
        // Outside the limits, so that compressing does not hold a place.
        .layer(StageLayer(AcceptableCodings))
        .layer(CompressionLayer { enabled: settings.http.compression })
        // A place is taken only by requests that reach the gateway ...
        .layer(StageLayer(InFlight::new(settings.http.requests_in_flight_max)))
        // ... and given back when the time is up.
        .layer(DeadlineLayer(settings.answer_timeout))
        .service(gateway)
}

//! The gateway with its greeting served in other ways than by a loaded library: linked into the program behind the same
//! interface, and as a handler of the gateway's own, without a plugin. Everything before and behind it is the gateway's.

use anyhow::{Result, anyhow};
use clap::Parser as _;
use gateway::Gateway;
use gateway::routes::{Route, RouteLookup};
use gateway_cli::Cli;
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_http::body::{Body, RequestBody};
use gateway_http::{ClientIp, Listener, ListenerSettings};
use gateway_plugins::LoadedPlugin;
use gateway_plugins::polls::within;
use gateway_telemetry::MetricsRecorder;
use http::{HeaderValue, Request, Response, header::CONTENT_TYPE};
use serde::Serialize;
use std::{convert::Infallible, future::ready, sync::Arc};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

pub const LINKED: &str = "gateway-linked";
pub const INSIDE: &str = "gateway-inside";

const OPERATION: &str = "get_greeting";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    Plugin,
    Own,
}

/// As `gateway_cli::boot` opens the gateway, configured by the same variables.
pub async fn serve(handler: Handler) -> Result<()> {
    let config = Config::load(&Cli::parse_from(["gateway"]).overrides).map_err(|problems| anyhow!("{problems}"))?;
    gateway_telemetry::start_logging(&config.log);
    let listener = Listener::bind(&ListenerSettings::new(&config, None))?;
    let _metrics = MetricsRecorder::install();
    let hello = LoadedPlugin::linked(hello::plugin_module())?;
    let gateway = Gateway::start(config, Clock::System, listener.local_addr(), vec![Ok(hello)]).await?;
    let serving = gateway.clone();
    let service = service_fn(move |request| {
        let gateway = serving.clone();
        Box::pin(async move { Ok::<_, Infallible>(answer(&gateway, handler, request).await) })
    });
    listener.serve(service, CancellationToken::new()).await;
    gateway.stop().await;
    Ok(())
}

async fn answer(gateway: &Arc<Gateway>, handler: Handler, request: Request<RequestBody>) -> Response<Body> {
    if handler == Handler::Own
        && let RouteLookup::Found { route, params } =
            gateway.dispatcher.routes.find(request.method(), request.uri().path())
        && route.spec.operation == OPERATION
        && let Some(response) = greet(gateway, &route, &params, &request).await
    {
        return response;
    }
    gateway.handle(request).await
}

/// What `Gateway::handle` does around a handler: metrics, limits, the time limit, the label for the log; and the handler
/// itself.
async fn greet(
    gateway: &Gateway,
    route: &Route,
    params: &[String],
    request: &Request<RequestBody>,
) -> Option<Response<Body>> {
    let mut guard = route.usage.start_request();
    let ip = request.extensions().get::<ClientIp>()?.0;
    if !gateway.dispatcher.routes.ip_limits().is_exempt(ip) {
        route.limits.check(ip).ok()?;
    }
    let greeting = within(route.timeout, ready(greeting(params.first()?))).await??;
    let mut response = Response::new(Body::from(greeting));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.extensions_mut().insert(route.label.clone());
    guard.set_status(response.status());
    Some(response)
}

#[derive(Serialize)]
struct Greeting {
    greeting: String,
}

fn greeting(name: &str) -> Option<Vec<u8>> {
    serde_json::to_vec(&Greeting { greeting: format!("Hello, {name}!") }).ok()
}

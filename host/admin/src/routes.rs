//! The routes of the operator's listener.

use super::{
    actions,
    guard::{Guard, Refusal},
    operator::Operator,
    page, reports,
    response::{self, AdminResponse},
};
use gateway::Gateway;
use gateway::lifecycle::OperatorAction;
use gateway_storage::StorageError;
use gateway_telemetry::MetricsRecorder;
use http::{HeaderValue, Method, Request, StatusCode, header, request::Parts};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde::Serialize;
use serde_json::json;
use std::{net::SocketAddr, sync::Arc, time::Duration};

/// What the routes of the operator's listener use.
#[derive(Clone)]
pub(crate) struct AdminContext {
    pub gateway: Arc<Gateway>,
    pub metrics: Option<MetricsRecorder>,
    pub guard: Arc<Guard>,
}

const HELP: &str = "\
GET  /                        the operator's page
GET  /plugins                 every plugin with its state
POST /plugins/NAME/enable     also disable, resume, reindex; send X-Gateway-Admin: 1
GET  /plugins/NAME/purge      what a plugin that is gone left in the database
POST /plugins/NAME/purge      drops it; send X-Gateway-Admin: 1
GET  /controls                what plugins let operators switch
POST /plugins/NAME/controls/CONTROL/ACTION   presses a button of it; send X-Gateway-Admin: 1
GET  /reports                 tables of plugins, with their options
GET  /plugins/NAME/reports/REPORT   its rows; with ?option=NAME and ?offset=NUMBER
GET  /chains                  every chain with its RPC servers
GET  /accounts                accounts that send, with balance and queue
GET  /transactions            unfinished transactions; with ?all the newest of all
GET  /indexes                 every index of a chain with its progress
GET  /replicas                every gateway on the database with the states of its plugins
GET  /jobs                    every job with its last result and next run
GET  /audit                   what operators did, newest first
PUT  /log-level               the body is a level: info,gateway=debug; send X-Gateway-Admin: 1
GET  /metrics                 for Prometheus
GET  /live                    200 while the process can work, else 503: restart it then
GET  /ready                   200 while writes are kept and every required plugin serves, else 503 with the reasons
";

const AUDIT_ROWS: u32 = 200;
const TRANSACTIONS: u32 = 500;
/// A log level is the longest body there is.
const BODY_BYTES_MAX: usize = 4096;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn respond(
    context: &AdminContext,
    request: Request<Incoming>,
    peer: SocketAddr,
    certificate: Option<&str>,
) -> AdminResponse {
    let (head, body) = request.into_parts();
    let operator = match context.guard.admit(&head, peer, certificate) {
        Ok(operator) => operator,
        Err(refusal) => {
            tracing::warn!(%peer, method = %head.method, path = head.uri.path(), "refused: {refusal}");
            return refused(refusal);
        }
    };
    let path: Vec<&str> = head.uri.path().split('/').skip(1).collect();
    match path.as_slice() {
        ["plugins", name, "purge"] => match head.method {
            Method::GET | Method::HEAD => actions::purge_plan(&context.gateway, name).await,
            Method::POST => actions::purge(&context.gateway, name, &operator).await,
            _ => not_allowed("GET, HEAD, POST"),
        },
        ["plugins", _, "controls", _, _] if head.method != Method::POST => not_allowed("POST"),
        ["plugins", name, "controls", control, action] => {
            actions::press_control(&context.gateway, (name, control, action), &operator).await
        }
        ["reports"] | ["plugins", _, "reports", _] if !matches!(head.method, Method::GET | Method::HEAD) => {
            not_allowed("GET, HEAD")
        }
        ["reports"] => reports::list(&context.gateway).await,
        ["plugins", name, "reports", report] => reports::read(&context.gateway, (name, report), head.uri.query()).await,
        ["plugins", name, action] => match OperatorAction::parse(action) {
            Some(_) if head.method != Method::POST => not_allowed("POST"),
            Some(action) => actions::operate(&context.gateway, action, name, &operator).await,
            None => unknown(),
        },
        ["log-level"] if head.method != Method::PUT => not_allowed("PUT"),
        ["log-level"] => log_level(context, body, &operator).await,
        _ => read(context, &head).await,
    }
}

fn refused(refusal: Refusal) -> AdminResponse {
    let (status, code) = match refusal {
        Refusal::Token => (StatusCode::UNAUTHORIZED, "token"),
        Refusal::Certificate => (StatusCode::FORBIDDEN, "certificate"),
        Refusal::Host | Refusal::Origin | Refusal::Change => (StatusCode::FORBIDDEN, "cross_site"),
    };
    let mut answer = response::error(status, code, &refusal.to_string(), refusal.hint());
    if refusal == Refusal::Token {
        // A browser asks for a name and a password then.
        let scheme = HeaderValue::from_static("Basic realm=\"gateway\", charset=\"UTF-8\"");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    answer
}

async fn read(context: &AdminContext, head: &Parts) -> AdminResponse {
    let gateway = &context.gateway;
    let path = head.uri.path();
    if !PAGES.contains(&path) {
        return unknown();
    }
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return not_allowed("GET, HEAD");
    }
    match path {
        "/" => response::typed(
            StatusCode::OK,
            "text/html; charset=utf-8",
            page::render(gateway, context.metrics.as_ref()).await,
        ),
        "/page.css" => response::typed(StatusCode::OK, "text/css; charset=utf-8", page::STYLE),
        "/page.js" => response::typed(StatusCode::OK, "text/javascript; charset=utf-8", page::SCRIPT),
        "/plugins" => response::json(StatusCode::OK, &gateway.plugins.all_reports()),
        "/controls" => listed(page::controls(gateway).await),
        "/chains" => response::json(StatusCode::OK, &gateway.chains.reports(gateway.clock.now_s())),
        "/accounts" => response::json(StatusCode::OK, &gateway.journal.accounts()),
        "/transactions" if head.uri.query() == Some("all") => listed(gateway.journal.newest(TRANSACTIONS).await),
        "/transactions" => listed(gateway.journal.unfinished(TRANSACTIONS).await),
        "/indexes" => response::json(StatusCode::OK, &gateway.indexes.reports()),
        "/replicas" => listed(gateway.replicas.reports().await),
        "/jobs" => listed(gateway.jobs.list().await),
        "/audit" => listed(gateway.operators.audit(AUDIT_ROWS).await),
        "/live" => live(gateway),
        "/ready" | "/health" => ready(gateway).await,
        "/metrics" => metrics(context),
        _ => unknown(),
    }
}

/// `/health` is the older name of `/ready`.
const PAGES: [&str; 16] = [
    "/",
    "/page.css",
    "/page.js",
    "/plugins",
    "/controls",
    "/chains",
    "/accounts",
    "/transactions",
    "/indexes",
    "/replicas",
    "/jobs",
    "/audit",
    "/live",
    "/ready",
    "/health",
    "/metrics",
];

/// Only what a restart mends makes the process dead: a database that is away does not.
fn live(gateway: &Gateway) -> AdminResponse {
    match gateway.database.check_threads() {
        Ok(()) => response::json(StatusCode::OK, &json!({ "ok": true })),
        Err(error) => {
            response::json(StatusCode::SERVICE_UNAVAILABLE, &json!({ "ok": false, "reason": error.to_string() }))
        }
    }
}

async fn ready(gateway: &Gateway) -> AdminResponse {
    let report = gateway.health.report().await;
    response::json(if report.ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &report)
}

fn metrics(context: &AdminContext) -> AdminResponse {
    context.gateway.record_resources();
    let reports = context.gateway.plugins.reports();
    let serving = reports.iter().map(|report| (report.name.as_str(), report.serves));
    let text = gateway_telemetry::render_metrics(&context.gateway.usage, context.metrics.as_ref(), serving);
    response::typed(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text)
}

async fn log_level(context: &AdminContext, body: Incoming, operator: &Operator) -> AdminResponse {
    let body = Limited::new(body, BODY_BYTES_MAX).collect();
    let body = match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(body) => body.map(http_body_util::Collected::to_bytes),
        Err(_elapsed) => {
            let hint = "send the whole body at once";
            return response::error(StatusCode::REQUEST_TIMEOUT, "timeout", "the body did not arrive in time", hint);
        }
    };
    match body.as_deref().map(std::str::from_utf8) {
        Ok(Ok(level)) => actions::set_log_level(&context.gateway, level.trim(), operator).await,
        _ => response::error(StatusCode::BAD_REQUEST, "bad_body", "the body is no short text", "send the level alone"),
    }
}

fn listed<T: Serialize>(rows: Result<Vec<T>, StorageError>) -> AdminResponse {
    match rows {
        Ok(rows) => response::json(StatusCode::OK, &rows),
        Err(error) => response::text(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
    }
}

fn unknown() -> AdminResponse {
    response::text(StatusCode::NOT_FOUND, HELP)
}

fn not_allowed(allow: &'static str) -> AdminResponse {
    let mut answer = response::text(StatusCode::METHOD_NOT_ALLOWED, HELP);
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    answer
}

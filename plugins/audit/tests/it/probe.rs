//! A test plugin that contributes the lines that a test posts, and can be made to wait.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostErrorCode, HostHandle, Json, JsonBody, NoConfig, Plugin,
    PluginContext, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    point::{AUDIT, AuditInput, AuditLine, AuditLines},
    response::NoContent,
};
use plugin_testing::{TestGateway, Value, json};
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};
use tokio::sync::watch;

const LINES: &str = "/api/probe/lines";
const HELD: &str = "/api/probe/held";
const FAILS: &str = "/api/probe/fails";
const ASKED: &str = "/api/probe/asked";

struct Probe {
    lines: Mutex<Vec<AuditLine>>,
    held: watch::Sender<bool>,
    fails: AtomicBool,
    asked: AtomicU32,
}

impl Identity for Probe {
    const NAME: &'static str = "probe";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Contributes what a test posts";
}

impl Plugin for Probe {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([
                Route::post(LINES, set_lines).public().summary("Set the lines"),
                Route::post(HELD, set_held).public().summary("Wait, or go on"),
                Route::post(FAILS, set_fails).public().summary("Fail, or go on"),
                Route::get(ASKED, count_asked).public().summary("How often lines were asked for"),
            ])
            .contributes(AUDIT, lines)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self {
            lines: Mutex::default(),
            held: watch::Sender::new(false),
            fails: AtomicBool::default(),
            asked: AtomicU32::default(),
        })
    }
}

/// Does not use `export_plugin!`: a binary can hold the exported symbols of one plugin only.
pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Probe>()
}

async fn lines(cx: PluginContext<Probe>, input: AuditInput) -> Result<AuditLines, HostError> {
    cx.plugin().asked.fetch_add(1, Relaxed);
    let mut held = cx.plugin().held.subscribe();
    let _ = held.wait_for(|held| !held).await;
    if cx.plugin().fails.load(Relaxed) {
        return Err(HostError::new(HostErrorCode::Internal, "the test says so"));
    }
    let after = input.after.clone();
    let mut lines = cx.plugin().lines.lock().unwrap().clone();
    lines.retain(|line| after.as_ref().is_none_or(|after| line.at > *after));
    Ok(AuditLines { lines, more: false }.first(input.limit))
}

async fn set_lines(
    cx: RequestContext<Probe>,
    JsonBody(lines): JsonBody<Vec<AuditLine>>,
) -> Result<NoContent, HandlerError> {
    *cx.plugin().lines.lock().unwrap() = lines;
    Ok(NoContent)
}

async fn set_held(cx: RequestContext<Probe>, JsonBody(held): JsonBody<bool>) -> Result<NoContent, HandlerError> {
    cx.plugin().held.send_replace(held);
    Ok(NoContent)
}

async fn set_fails(cx: RequestContext<Probe>, JsonBody(fails): JsonBody<bool>) -> Result<NoContent, HandlerError> {
    cx.plugin().fails.store(fails, Relaxed);
    Ok(NoContent)
}

async fn count_asked(cx: RequestContext<Probe>) -> Result<Json<u32>, HandlerError> {
    Ok(Json(cx.plugin().asked.load(Relaxed)))
}

/// A line with these members, as a plugin contributes it.
pub fn line(kind: &str, ts: i64, id: &str, members: Value) -> Value {
    json!({ "at": { "ts": ts, "block": 0, "logIndex": 0, "kind": kind, "id": id }, "members": members })
}

pub async fn contribute(gateway: &TestGateway, lines: Vec<Value>) {
    let set = gateway.send("POST", LINES, &[], Value::from(lines).to_string()).await;
    assert_eq!(set.status, 204, "{}", set.text());
}

pub async fn hold(gateway: &TestGateway, held: bool) {
    assert_eq!(gateway.send("POST", HELD, &[], held.to_string()).await.status, 204);
}

pub async fn fail(gateway: &TestGateway, fails: bool) {
    assert_eq!(gateway.send("POST", FAILS, &[], fails.to_string()).await.status, 204);
}

pub async fn asked(gateway: &TestGateway) -> Value {
    gateway.get(ASKED).await.json()
}

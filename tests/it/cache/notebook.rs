//! A plugin with one list, some routes that break the promise of `cached`, and a count of its calls in each response,
//! by which a test recognises cached ones.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostHandle, Json, JsonBody, JsonSchema, Migration, NoConfig,
    Path, Plugin, PluginContext, Query as _, QueryString, RequestContext, Route,
    abi::PluginModule_Ref,
    extract::{HeaderName, HeaderValue},
    host::Identity,
    point::{NoInput, Point},
    response::{NoContent, Problem},
    sql,
    stream::EventBuilder,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

pub const NOTES: &str = "/api/notebook/notes";
pub const EVENTS: &str = "/api/notebook/events";

const ADDED: &str = "notebook.add";

#[derive(Default)]
struct Notebook {
    calls: AtomicU64,
    contributions: AtomicU64,
}

impl Identity for Notebook {
    const NAME: &'static str = "notebook";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Keeps what a test posts";
}

impl Plugin for Notebook {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .publishes(&[ADDED])
            .routes([
                Route::post(NOTES, create_note).public(),
                Route::get(NOTES, list_notes).public().cached(),
                Route::get("/api/notebook/calls", count_call).public().cached(),
                Route::get(EVENTS, count_events).public().cached(),
                Route::get("/api/notebook/notes/{id}", get_note).public().cached().cache_control("public, max-age=1"),
                Route::get("/api/notebook/spoiled/header", read_header).public().cached(),
                Route::get("/api/notebook/spoiled/{how}", spoil).public().cached(),
                Route::get("/api/notebook/collected/{point}", collect_point).public().cached(),
            ])
            .migrations([Migration::new(1, "create", "CREATE TABLE notebook_notes (id {{id}}, body TEXT NOT NULL)")])
            .own_transactions()
            .contributes(STATS, contribute)
            .contributes_cached(DISCOVERY, count_notes)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

/// Not by `export_plugin!`: one binary has room for one plugin's exported symbols.
pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Notebook>()
}

#[derive(Deserialize, JsonSchema)]
struct NewNote {
    body: String,
    /// Writes, then answers an error.
    #[serde(default)]
    fail: bool,
    /// Publishes an event, too.
    #[serde(default)]
    publish: bool,
}

async fn create_note(
    cx: RequestContext<Notebook>,
    JsonBody(new): JsonBody<NewNote>,
) -> Result<NoContent, HandlerError> {
    let tx = cx.transaction();
    tx.execute(sql("INSERT INTO notebook_notes (body) VALUES ($1)").bind(new.body)).await?;
    if new.publish {
        EventBuilder::new(ADDED, &json!({})).publish(&tx)?;
    }
    if new.fail { Err(Problem::new(409, "conflict", "as the test wished").into()) } else { Ok(NoContent) }
}

/// The number of notes and the last of them, which are equal.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Notes {
    count: i64,
    last: i64,
}

async fn list_notes(cx: RequestContext<Notebook>) -> Result<Json<Notes>, HandlerError> {
    let db = cx.db();
    Ok(Json(db.one(sql("SELECT count(*) AS count, coalesce(max(id), 0) AS last FROM notebook_notes")).await?))
}

/// The same of the log's events.
async fn count_events(cx: RequestContext<Notebook>) -> Result<Json<Notes>, HandlerError> {
    let events = sql("SELECT count(*) AS count, coalesce(max(id), 0) AS last FROM host_activity_v1");
    Ok(Json(cx.db().one(events).await?))
}

async fn get_note(cx: RequestContext<Notebook>, Path(id): Path<i64>) -> Result<Json<Value>, HandlerError> {
    let body: Option<String> = cx.db().row(sql("SELECT body FROM notebook_notes WHERE id = $1").bind(id)).await?;
    match body {
        Some(body) => Ok(Json(json!({ "id": id, "body": body }))),
        None => Err(Problem::new(404, "not_found", "no such note").into()),
    }
}

fn call(cx: &PluginContext<Notebook>) -> u64 {
    cx.plugin().calls.fetch_add(1, Relaxed)
}

#[derive(Deserialize, JsonSchema)]
struct Padding {
    #[serde(default)]
    bytes: usize,
}

/// Returns a value from the plugin's own memory: the only dependency that the gateway cannot see.
async fn count_call(
    cx: RequestContext<Notebook>,
    QueryString(Padding { bytes }): QueryString<Padding>,
) -> Result<Json<Value>, HandlerError> {
    Ok(Json(json!({ "call": call(cx.plugin_context()), "padding": "x".repeat(bytes) })))
}

struct UserAgent;

impl HeaderName for UserAgent {
    const NAME: &'static str = "user-agent";
}

/// Depends on a header.
async fn read_header(cx: RequestContext<Notebook>, agent: HeaderValue<UserAgent>) -> Result<Json<Value>, HandlerError> {
    Ok(Json(json!({ "call": call(cx.plugin_context()), "agent": agent.0 })))
}

/// Depends on something that is neither path nor query nor stored data.
async fn spoil(cx: RequestContext<Notebook>, Path(how): Path<String>) -> Result<Json<Value>, HandlerError> {
    let random = "SELECT random() < 2";
    match how.as_str() {
        "clock" => drop(cx.now_s()),
        "caller" => drop(cx.client_ip().to_owned()),
        "request_id" => drop(cx.request_id().to_owned()),
        "transaction" => drop(cx.transaction()),
        "own_transaction" => drop(cx.begin()),
        "sleep" => cx.sleep(Duration::ZERO).await,
        "task" => cx.spawn("nothing", async { Ok(()) }).abort(),
        "blocking" => cx.blocking(|| ()).await?,
        "chance" => drop(cx.db().run(sql(random)).await?),
        "failed_read" => drop(cx.db().run(sql("SELECT id FROM nobody_knows")).await.err()),
        _ => return Err(Problem::new(404, "not_found", "no such way").into()),
    }
    Ok(Json(json!({ "call": call(cx.plugin_context()) })))
}

const STATS: Point<NoInput, Value> = Point::new("stats");
const DISCOVERY: Point<NoInput, Value> = Point::new("discovery");
const NOBODYS: Point<NoInput, Value> = Point::new("nobody");

async fn collect_point(cx: RequestContext<Notebook>, Path(name): Path<String>) -> Result<Json<Value>, HandlerError> {
    let point = [STATS, DISCOVERY].into_iter().find(|point| point.name() == name).unwrap_or(NOBODYS);
    let parts = cx.collect(point, &NoInput {}).await?;
    let found: Vec<Value> = parts.into_iter().map(|(_, value)| value).collect();
    Ok(Json(json!({ "call": call(cx.plugin_context()), "found": found })))
}

async fn contribute(_: PluginContext<Notebook>, _: NoInput) -> Result<Value, HostError> {
    Ok(json!({}))
}

async fn count_notes(gateway: PluginContext<Notebook>, _: NoInput) -> Result<Value, HostError> {
    let count: i64 = gateway.db().one(sql("SELECT count(*) FROM notebook_notes")).await?;
    let number = gateway.plugin().contributions.fetch_add(1, Relaxed);
    Ok(json!({ "limits": { "notes": count, "contribution": number } }))
}

//! A test plugin that publishes any event that a test posts, and contributes names of agents.

use plugin_api::{
    Address, ConfigError, Definition, HandlerError, HostError, HostHandle, Json, JsonBody, JsonSchema, NoConfig,
    Plugin, PluginContext, Query as _, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    point::{AuthorName, AuthorsInput, LeaderboardInput, Point},
    response::{NoContent, Problem},
    sql,
    stream::EventBuilder,
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

pub const PUBLISH: &str = "/api/probe/events";
pub const DID: &str = "/api/probe/did";
pub const ASKED: &str = "/api/probe/asked";

/// The types of the events that tests post.
const TYPES: [&str; 19] = [
    "a.after",
    "a.b",
    "a.before",
    "a.first",
    "a.second",
    "an.others",
    "before.it",
    "c.d",
    "case.closed",
    "its.own",
    "job",
    "job.a",
    "job.b",
    "job.requested",
    "jobs.a",
    "kb.write",
    "no.ones",
    "now.first",
    "now.second",
];

/// Holds its contribution to the leaderboard: for all time, and since a second.
struct Probe {
    did: Mutex<BTreeMap<String, Value>>,
    /// How often its contribution for all time was asked for.
    asked: AtomicU32,
}

impl Identity for Probe {
    const NAME: &'static str = "probe";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Publishes what a test posts";
}

impl Plugin for Probe {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([
                Route::post(PUBLISH, publish_event).public().summary("Publish an event"),
                Route::get(ASKED, count_asked).public().summary("How often the leaderboard was asked for"),
                Route::post(DID, set_metrics).public().summary("Say what addresses did"),
            ])
            .publishes(&TYPES)
            .contributes(Point::new("authors"), names)
            .contributes(Point::new("leaderboard"), metrics)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self { did: Mutex::default(), asked: AtomicU32::default() })
    }
}

/// Does not use `export_plugin!`: a binary can hold the exported symbols of one plugin only, here those of activity.
pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Probe>()
}

#[derive(Deserialize, JsonSchema)]
struct NewEvent {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    actor: Option<Address>,
    #[serde(default)]
    about: Option<(String, String)>,
    data: Value,
    /// Publishes, then answers an error.
    #[serde(default)]
    fail: bool,
}

async fn publish_event(
    cx: RequestContext<Probe>,
    JsonBody(new): JsonBody<NewEvent>,
) -> Result<NoContent, HandlerError> {
    cx.write(async move |tx| {
        let mut event = EventBuilder::new(&new.kind, &new.data);
        if let Some(actor) = new.actor {
            event = event.actor(actor);
        }
        if let Some((kind, id)) = &new.about {
            event = event.subject(kind, id);
        }
        event.publish(tx)?;
        if new.fail { Err(Problem::new(409, "conflict", "as the test wished").into()) } else { Ok(NoContent) }
    })
    .await
}

/// An address that ends in an even digit owns an agent that is named after its last two digits.
async fn names(cx: PluginContext<Probe>, asked: AuthorsInput) -> Result<Value, HostError> {
    if let Some(names) = cx.plugin().did.lock().unwrap().get("names") {
        return Ok(names.clone());
    }
    let named = |address: &Address| {
        let last = address.0[19];
        let name =
            AuthorName { name: Some(format!("agent {last:02x}")), agent_id: Some(i64::from(last)), active: true };
        last.is_multiple_of(2).then_some((*address, name))
    };
    let named: BTreeMap<Address, AuthorName> = asked.addresses.iter().filter_map(named).collect();
    Ok(serde_json::to_value(named).unwrap())
}

/// By `all` or the first second: address → metrics, or whatever else a test wants to see survived.
#[derive(Deserialize, JsonSchema)]
struct Did(BTreeMap<String, Value>);

async fn set_metrics(cx: RequestContext<Probe>, JsonBody(Did(did)): JsonBody<Did>) -> Result<NoContent, HandlerError> {
    *cx.plugin().did.lock().unwrap() = did;
    Ok(NoContent)
}

async fn count_asked(cx: RequestContext<Probe>) -> Result<Json<u32>, HandlerError> {
    Ok(Json(cx.plugin().asked.load(Relaxed)))
}

async fn metrics(cx: PluginContext<Probe>, asked: LeaderboardInput) -> Result<Value, HostError> {
    let period = asked.since_s.map_or("all".to_owned(), |second| second.to_string());
    if asked.since_s.is_none() {
        cx.plugin().asked.fetch_add(1, Relaxed);
    }
    // Takes a while, so that requests of the same moment meet.
    cx.db().rows::<i64>(sql("SELECT 1")).await?;
    Ok(cx.plugin().did.lock().unwrap().get(&period).cloned().unwrap_or_else(|| serde_json::json!({})))
}

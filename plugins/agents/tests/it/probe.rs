//! A test plugin that collects authors and metrics, as any other plugin does.

use plugin_api::{
    Address, ConfigError, Definition, HandlerError, HostHandle, Json, JsonBody, JsonSchema, Migration, NoConfig,
    Plugin, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    point::{Author, CV_CLAIMS, CvClaimsInput, LeaderboardInput, Point},
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

struct Probe;

impl Identity for Probe {
    const NAME: &'static str = "probe";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Asks who is behind addresses";
}

/// Its labelled addresses, which a test inserts.
const LABELLED: &str = "CREATE TABLE probe_labelled (address TEXT NOT NULL PRIMARY KEY);
CREATE VIEW probe_labelled_v1 AS SELECT address, 'probe' AS label FROM probe_labelled;";

impl Plugin for Probe {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([
                Route::post("/api/probe", name_authors).public(),
                Route::post("/api/probe/leaderboard", collect_metrics).public(),
                Route::post("/api/probe/record", collect_record).public(),
            ])
            .migrations([Migration::new(1, "create", LABELLED)])
            .labels_addresses("probe_labelled_v1")
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    addresses: Vec<Address>,
}

async fn name_authors(
    cx: RequestContext<Probe>,
    JsonBody(Question { addresses }): JsonBody<Question>,
) -> Result<Json<Vec<Author>>, HandlerError> {
    let authors = cx.authors(addresses.iter().copied()).await?;
    Ok(Json(addresses.into_iter().map(|address| authors.get(address)).collect()))
}

async fn collect_metrics(
    cx: RequestContext<Probe>,
    JsonBody(period): JsonBody<BTreeMap<String, i64>>,
) -> Result<Json<Value>, HandlerError> {
    let (since_s, labelled) = (period.get("sinceS").copied(), cx.labelled_addresses().await?);
    let input = LeaderboardInput { since_s, addresses: None, labelled };
    let mut parts = cx.collect(Point::<_, Value>::new("leaderboard"), &input).await?;
    Ok(Json(parts.pop().map(|(_, part)| part).unwrap_or_default()))
}

/// The summary of an agent's record.
async fn collect_record(
    cx: RequestContext<Probe>,
    JsonBody(input): JsonBody<CvClaimsInput>,
) -> Result<Json<Value>, HandlerError> {
    let mut parts = cx.collect(CV_CLAIMS, &input).await?;
    Ok(Json(parts.pop().map(|(_, record)| record.summary.into()).unwrap_or_default()))
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Probe>()
}

//! Extension points: typed lists to which any plugin may contribute, third-party plugins too. And services: typed functions
//! that one plugin provides.
//!
//! A [`Point`] is a name with an input and an output type. The collector merges the contributions of the enabled plugins;
//! a disabled plugin contributes nothing. The points below are the gateway's; a plugin may have its own.
//!
//! ```
//! use plugin_api::point::{self, AuthorName, AuthorsInput, Counters, Discovery, LeaderboardInput, Metrics, NoInput};
//! use plugin_api::point::{PayloadReferencesInput, ServiceStatus, WorkEvent, WorkInput, WorkItem, WorkKind, members};
//! use plugin_api::{Address, Definition, Hash256, HostError, Plugin, PluginContext};
//! use std::collections::BTreeMap;
//!
//! /// What a plugin contributes.
//! fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition
//!         .contributes(point::STATS, async |_, _: NoInput| Ok(Counters::manifest([("notes", 7.into())])))
//!         .contributes(point::STATUS, status)
//!         .contributes(point::HEALTH, async |_, _: NoInput| Ok(members([("notesWaiting", 7.into())])))
//!         .contributes(point::DISCOVERY, async |_, _: NoInput| {
//!             Ok(Discovery { card: members([("topNotes", 7.into())]), ..Discovery::default() })
//!         })
//!         .contributes(point::WORK, async |_, input: WorkInput| {
//!             let Some(only) = input.selection(&["note.create"], "noteId") else { return Ok(Vec::new()) };
//!             let title = "Read a note".to_owned();
//!             Ok(vec![WorkItem { title, ..WorkItem::new(WorkKind::Question, only.unwrap_or(1)) }])
//!         })
//!         .contributes_cached(point::LEADERBOARD, async |_, LeaderboardInput { since_s, .. }| {
//!             let forum_posts = if since_s.is_some() { 1 } else { 9 };
//!             Ok(BTreeMap::from([(Address::ZERO, Metrics { forum_posts, ..Metrics::default() })]))
//!         })
//!         .contributes_cached(point::AUTHORS, async |_, AuthorsInput { addresses }| {
//!             Ok(addresses.into_iter().map(|owner| (owner, AuthorName::default())).collect::<BTreeMap<_, _>>())
//!         })
//! }
//!
//! async fn status<P>(_: PluginContext<P>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
//!     Ok(ServiceStatus::new(true, "the printer is on fire", [("printed", 7.into())]).named("printer"))
//! }
//!
//! /// What a plugin collects from others. A topic of [`STREAM`] is contributed by [`crate::stream`].
//! async fn collect<P>(cx: PluginContext<P>, event: WorkEvent) -> Result<usize, HostError> {
//!     let work: Vec<(String, Vec<WorkItem>)> = cx.collect(point::WORK, &WorkInput { made_by: Some(event) }).await?;
//!     let kept = cx.collect(point::PAYLOAD_REFERENCES, &PayloadReferencesInput { hashes: vec![Hash256::keccak(b"a")] }).await?;
//!     let author: point::Author = cx.authors([Address::ZERO]).await?.get(Address::ZERO);
//!     Ok(work.len() + kept.len() + author.name.map_or(0, |name| name.len()))
//! }
//! ```
//!
//! What a plugin states about an agent, for the agent's credential ([`CV_CLAIMS`]):
//!
//! ```
//! use plugin_api::point::{CV_CLAIMS, CvClaim, CvClaimsInput, CvLog, CvRecord, members};
//! use plugin_api::{Definition, Hash256, Plugin};
//!
//! fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.contributes(CV_CLAIMS, async |_, CvClaimsInput { agent_id, .. }| {
//!         let case = CvClaim {
//!             kind: "Dispute".to_owned(),
//!             id: "dispute:3".to_owned(),
//!             stated_at: Some(1_790_000_000),
//!             fields: members([("caseId", 3.into()), ("jobId", 7.into())]),
//!             logs: vec![CvLog::new("arbiterPool", "CaseOpened", Hash256::keccak(b"its transaction"))],
//!             source: None,
//!             note: None,
//!         };
//!         let covers = vec!["Dispute".to_owned()];
//!         let claims = if agent_id.0 == 1 { vec![case] } else { Vec::new() };
//!         Ok(CvRecord { covers, claims, ..CvRecord::default() }.within_bounds())
//!     })
//! }
//! ```
//!
//! A switch of the plugin on the operator's page ([`CONTROLS`]):
//!
//! ```
//! use plugin_api::point::{CONTROLS, Control, ControlPress, ControlsInput};
//! use plugin_api::{Definition, HostError, Plugin, PluginContext, Query as _, sql};
//!
//! fn printers<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.contributes(CONTROLS, controls)
//! }
//!
//! async fn controls<P>(cx: PluginContext<P>, input: ControlsInput) -> Result<Vec<Control>, HostError> {
//!     if let Some(ControlPress { action, .. }) = input.press {
//!         let set = sql("UPDATE printers_switch SET paused = $1").bind(i64::from(action == "pause"));
//!         cx.write(async move |tx| tx.execute(set.clone()).await.map(drop)).await?;
//!     }
//!     let paused: i64 = cx.db().one(sql("SELECT paused FROM printers_switch")).await?;
//!     let (state, action) = if paused == 1 { ("paused", "resume") } else { ("running", "pause") };
//!     Ok(vec![Control::new("printing", state, &[action])])
//! }
//! ```
//!
//! A table for operators, which `gateway printers prints --failed` prints ([`REPORTS`]):
//!
//! ```
//! use plugin_api::point::{REPORTS, ReportTable, ReportRequest, ReportsInput};
//! use plugin_api::{Definition, HostError, Plugin, PluginContext, Query as _, sql};
//! use serde_json::json;
//!
//! fn printers<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.contributes(REPORTS, reports)
//! }
//!
//! async fn reports<P>(cx: PluginContext<P>, input: ReportsInput) -> Result<Vec<ReportTable>, HostError> {
//!     let report = ReportTable::new("prints", "what was printed", &["id", "url"]).option("failed", "only what failed");
//!     let Some(ReportRequest { options, offset, limit, .. }) = input.read else { return Ok(vec![report]) };
//!     let condition = if options.contains("failed") { "failed = 1" } else { "1 = 1" };
//!     let select = format!("SELECT id, url FROM printers_prints WHERE {condition} ORDER BY id LIMIT $1 OFFSET $2");
//!     let mut rows: Vec<(i64, String)> = cx.db().rows(sql(select).bind((limit + 1, offset))).await?;
//!     let more = rows.len() > limit as usize;
//!     rows.truncate(limit as usize);
//!     let cells = rows.into_iter().map(|(id, url)| vec![json!(id), json!(url)]);
//!     Ok(vec![report.with_rows(cells.collect(), more)])
//! }
//! ```
//!
//! A plugin that keeps facts about agents or their owners gives the lines of the signed export about them. For events of the activity log
//! that is one call, [`crate::Definition::audits`]; other records are read from where the export begins:
//!
//! ```
//! use plugin_api::point::{AUDIT, AuditInput, AuditLine, AuditLines, AuditPosition};
//! use plugin_api::{Definition, HostError, Plugin, PluginContext, Query, sql};
//!
//! fn printers<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.contributes(AUDIT, prints)
//! }
//!
//! async fn prints<P>(cx: PluginContext<P>, input: AuditInput) -> Result<AuditLines, HostError> {
//!     let (db, (ts, id)) = (cx.db(), input.start("print"));
//!     let events = input.events(&db, &["print.done"]).await?;
//!     let select = sql("SELECT printed_at, id, url FROM printers_prints WHERE owner = $1 AND printed_at >= $2 AND printed_at <= $3 \
//!          AND (printed_at > $2 OR id > $4) ORDER BY printed_at, id LIMIT $5");
//!     let select = select.bind((input.owner, ts, input.end_s(), id.parse().unwrap_or(0_i64), input.limit));
//!     let rows: Vec<(i64, i64, String)> = db.rows(select).await?;
//!     let more = rows.len() == input.limit as usize;
//!     let line = |(ts, id, url): (i64, i64, String)| AuditLine::numbered("print", ts, id, [("url", AuditLine::origin(&url).into())]);
//!     let prints = AuditLines { lines: rows.into_iter().map(line).collect(), more };
//!     let last: Option<&AuditPosition> = prints.lines.last().map(|line| &line.at);
//!     cx.debug(&format!("the prints end at {last:?}"));
//!     Ok(AuditLines::merge([events, prints]).first(input.limit))
//! }
//! ```
//!
//! A point of a plugin's own is named `PLUGIN.NAME`. The plugin shares the constant and its types in a crate of its own, declares
//! the point, and collects from it. The gateway does not start a plugin that contributes values of other types.
//!
//! ```
//! use plugin_api::{Definition, HostError, JsonSchema, Plugin, PluginContext, point::Point};
//!
//! #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
//! pub struct Essay {
//!     pub text: String,
//! }
//!
//! /// Marks for an essay, 0 to 100 each.
//! pub const GRADES: Point<Essay, u8> = Point::new("essays.grades");
//!
//! fn essays<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.extension_point(GRADES)
//! }
//!
//! fn grader<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.contributes(GRADES, async |_, essay| Ok(if essay.text.is_empty() { 0 } else { 50 }))
//! }
//!
//! async fn grade<P>(cx: PluginContext<P>, essay: Essay) -> Result<Option<u8>, HostError> {
//!     let grades = cx.collect(GRADES, &essay).await?;
//!     Ok(grades.into_iter().map(|(_grader, grade)| grade).min())
//! }
//! ```
//!
//! Where one plugin must answer, the constant is a [`Service`]:
//!
//! ```
//! use plugin_api::{HostError, PluginContext, point::Service};
//!
//! /// The number of words of a text.
//! pub const COUNT_WORDS: Service<String, u64> = Service::new("essays.count_words");
//!
//! async fn count<P>(cx: PluginContext<P>) -> Result<u64, HostError> {
//!     cx.call(COUNT_WORDS, &"two words".to_owned()).await
//! }
//! ```

pub use super::audit::{AUDIT, AuditInput, AuditLine, AuditLines, AuditPosition};
pub use super::controls::{CONTROLS, Control, ControlCounter, ControlPlot, ControlPress, ControlsInput};
pub use super::cv::{CvClaim, CvClaimsInput, CvLog, CvRecord, json_bytes};
pub use super::labelled_addresses::{LABELLED_ADDRESSES, LabelledAddresses};
pub use super::leaderboard::{LEADERBOARD, LeaderboardInput, Metrics};
pub use super::reports::{REPORTS, ReportRequest, ReportTable, ReportsInput};
pub use super::service::Service;
pub use super::work::{WORK, WorkEvent, WorkInput, WorkItem, WorkKind};

use super::{Address, Hash256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
};

/// An extension point: its name, the type of what the collector asks, and the type of what each plugin contributes.
pub struct Point<I, O> {
    name: &'static str,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Point<I, O> {
    /// The name of a plugin's own point is `PLUGIN.NAME`; those without a dot are the gateway's.
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<I, O> Clone for Point<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for Point<I, O> {}

/// References to payloads in stored texts and rows: a referenced payload is not pruned. Out those [`Hash256`] that are referenced.
pub const PAYLOAD_REFERENCES: Point<PayloadReferencesInput, BTreeSet<Hash256>> = Point::new("payload-references");
/// Names of agents by the address that owns them.
pub const AUTHORS: Point<AuthorsInput, BTreeMap<Address, AuthorName>> = Point::new("authors");
/// Network counters for `/api/stats` and the manifest.
pub const STATS: Point<NoInput, Counters> = Point::new("stats");
/// Services for `/api/status`, by name.
pub const STATUS: Point<NoInput, BTreeMap<String, ServiceStatus>> = Point::new("status");
/// Members of `v3` in `/api/health`, for programs that probe it often: what a contributor has at hand. The gateway asks at most
/// every two seconds, and shows what it was told before when an answer takes longer than half a second.
pub const HEALTH: Point<NoInput, Map<String, Value>> = Point::new("health");
/// Members of the network's manifest and agent card that depend on configuration or stored data: what does not is declared,
/// see [`crate::Route::endpoint`] and [`crate::Definition::skill`].
pub const DISCOVERY: Point<NoInput, Discovery> = Point::new("discovery");
/// Claims about an agent, for its credential: `/api/cv/{agent}` of the plugin `aicv`, which checks them.
pub const CV_CLAIMS: Point<CvClaimsInput, CvRecord> = Point::new("cv-claims");

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NoInput {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AuthorsInput {
    pub addresses: Vec<Address>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorName {
    pub name: Option<String>,
    pub agent_id: Option<i64>,
    /// Whether that agent is active: then one of the address's agents is, otherwise none.
    #[serde(default)]
    pub active: bool,
}

/// Who wrote something: the address and, when it owns an agent, that agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    pub address: Address,
    /// Name of the agent that the address owns: an active one first, then the lowest id.
    pub name: Option<String>,
    pub agent_id: Option<i64>,
}

/// Payloads that are old enough to be pruned, unless a plugin references them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PayloadReferencesInput {
    pub hashes: Vec<Hash256>,
}

/// Counters by their wire name, for example `threads`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Members of `/api/stats`.
    #[serde(default)]
    pub stats: Map<String, Value>,
    /// Additional members of the `stats` in manifest and agent card.
    #[serde(default)]
    pub manifest: Map<String, Value>,
}

impl Counters {
    /// Members of `/api/stats`.
    pub fn stats<const N: usize>(counters: [(&str, Value); N]) -> Self {
        Self { stats: members(counters), ..Self::default() }
    }

    /// Additional members of the `stats` in manifest and agent card.
    pub fn manifest<const N: usize>(counters: [(&str, Value); N]) -> Self {
        Self { manifest: members(counters), ..Self::default() }
    }
}

/// Additional members of the documents that describe the network, for example `topAgents`. Objects are merged, lists are
/// joined; existing members are not replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Discovery {
    /// Of the manifest (`/.well-known/service.json`).
    pub manifest: Map<String, Value>,
    /// Of the agent card (`/.well-known/agent.json`).
    pub card: Map<String, Value>,
}

/// Members of a JSON object.
pub fn members<const N: usize>(named: [(&str, Value); N]) -> Map<String, Value> {
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// One service in `/api/status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceStatus {
    /// Whether it makes progress, not whether it is up.
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// The service's own numbers.
    #[serde(flatten)]
    pub numbers: Map<String, Value>,
}

impl ServiceStatus {
    /// A service with its own numbers; `problem` is shown when it is not ok.
    pub fn new<const N: usize>(ok: bool, problem: &str, numbers: [(&str, Value); N]) -> Self {
        Self { ok, enabled: None, detail: (!ok).then(|| problem.to_owned()), numbers: members(numbers) }
    }

    /// The contribution of a plugin with this one service.
    pub fn named(self, service: &str) -> BTreeMap<String, Self> {
        [(service.to_owned(), self)].into()
    }
}

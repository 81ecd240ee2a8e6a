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
pub use super::controls::{CONTROLS, Control, ControlPress, ControlsInput};
pub use super::cv::{CvClaim, CvClaimsInput, CvLog, CvRecord};
pub use super::reports::{REPORTS, ReportRequest, ReportTable, ReportsInput};
pub use super::service::Service;

use super::{Address, Hash256, Sql, Wei};
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
/// Open work with a reward, for `/api/work`.
pub const WORK: Point<WorkInput, Vec<WorkItem>> = Point::new("work");
/// Addresses that are the operator's own traffic and not use, such as the wallets of a load test: leaderboards and statistics leave
/// them out. Contribute with [`crate::Definition::labels_addresses`].
///
/// ```
/// use plugin_api::{Definition, Plugin, point::LABELLED_ADDRESSES};
///
/// /// Contributes to [`LABELLED_ADDRESSES`] the column `address` of this view.
/// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
///     definition.labels_addresses("notes_robots_v1")
/// }
/// ```
pub const LABELLED_ADDRESSES: Point<NoInput, LabelledAddresses> = Point::new("labelled-addresses");
/// Metrics per address, for `/api/leaderboard`.
pub const LEADERBOARD: Point<LeaderboardInput, BTreeMap<Address, Metrics>> = Point::new("leaderboard");
/// Claims about an agent, for its credential: `/api/cv/{agent}` of the plugin `aicv`, which checks them.
pub const CV_CLAIMS: Point<CvClaimsInput, CvRecord> = Point::new("cv-claims");

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NoInput {}

/// Where the labelled addresses of a plugin are: in a view, so that what a reader pays does not grow with their number.
///
/// ```
/// use plugin_api::point::LabelledAddresses;
///
/// let robots = LabelledAddresses { view: "notes_robots_v1".to_owned() };
/// assert!(LabelledAddresses::leave_out(&[robots], "n.author").contains("FROM notes_robots_v1"));
/// assert_eq!(LabelledAddresses::leave_out(&[], "n.author"), "1 = 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabelledAddresses {
    /// A view that the plugin publishes, with a column `address` (checksummed) that an index finds.
    pub view: String,
}

impl LabelledAddresses {
    /// A condition of SQL that holds where the column's address is in none of these views; true without any.
    ///
    /// ```
    /// use plugin_api::{HostError, PluginContext, Query as _, point::LabelledAddresses, sql};
    ///
    /// async fn count_authors<P>(cx: PluginContext<P>) -> Result<i64, HostError> {
    ///     let counted = LabelledAddresses::leave_out(&cx.labelled_addresses().await?, "n.author");
    ///     cx.db().one(sql(format!("SELECT count(DISTINCT n.author) FROM notes_notes n WHERE {counted}"))).await
    /// }
    /// ```
    pub fn leave_out(all: &[Self], column: &str) -> String {
        let is_not_in = |view| format!("NOT EXISTS (SELECT 1 FROM {view} labelled WHERE labelled.address = {column})");
        let conditions: Vec<String> = all.iter().map(|labelled| is_not_in(&labelled.view)).collect();
        if conditions.is_empty() { "1 = 1".to_owned() } else { conditions.join(" AND ") }
    }
}

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

/// What kind of work an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkKind {
    Job,
    Bounty,
    Arena,
    Question,
    Endpoint,
}

/// Selects the work to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WorkInput {
    /// Only the items that this event made available, if they still are. When absent: all open items, of each kind the
    /// newest, up to the number that the point asks for.
    pub made_by: Option<WorkEvent>,
}

impl WorkInput {
    /// Which records to return: all (`Some(None)`), the one that an event of these types names in this member of its data
    /// (`Some(Some(id))`), or none (`None`).
    pub fn selection(&self, event_types: &[&str], id: &str) -> Option<Option<i64>> {
        let Some(event) = &self.made_by else { return Some(None) };
        let is_one = event_types.contains(&event.event_type.as_str());
        event.data[id].as_i64().filter(|_| is_one).map(Some)
    }
}

/// An event of the activity log.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkEvent {
    #[serde(rename = "type")]
    pub event_type: String,
    /// The event's data, as its plugin published it.
    pub data: Value,
}

/// An open piece of work with a reward. The plugin `work` adds derived members: names, FMX, absolute URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkItem {
    pub kind: WorkKind,
    /// The number of the job, bounty, challenge, thread, agent or listing.
    pub ref_id: i64,
    /// Distinguishes items of one kind and number, for example `compute`: the id is then `endpoint:compute:7`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    pub title: String,
    /// The full text; responses show 280 characters of it.
    pub summary: String,
    pub tags: Vec<String>,
    pub reward: Wei,
    /// Unix seconds.
    pub posted_at: i64,
    /// Unix seconds.
    pub deadline: Option<i64>,
    /// A job's hired agent, an endpoint's agent.
    pub agent_id: Option<i64>,
    /// Claims of a bounty, submissions of a challenge.
    pub claims: u64,
    pub requester: Option<Address>,
    /// Path of the web page, for example `/bounties/7`.
    pub page: String,
    /// Path of the full record, beginning with `/api/` or `/a/`.
    pub api: String,
    /// One line: the exact call that earns it.
    pub action: String,
}

impl WorkItem {
    /// An item without any member but these, for `..WorkItem::new(…)`.
    pub fn new(kind: WorkKind, ref_id: i64) -> Self {
        Self {
            kind,
            ref_id,
            variant: None,
            title: String::new(),
            summary: String::new(),
            tags: Vec::new(),
            reward: Wei::ZERO,
            posted_at: 0,
            deadline: None,
            agent_id: None,
            claims: 0,
            requester: None,
            page: String::new(),
            api: String::new(),
            action: String::new(),
        }
    }
}

/// Which period a leaderboard counts, and for whom. The gateway first asks for the best; when they are more than a contributor
/// gives, it asks everyone for all that the best of them did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeaderboardInput {
    /// Counts from this Unix second on; everything when absent.
    pub since_s: Option<i64>,
    /// Counts for these addresses, at most [`Self::BEST`]; when absent, for the [`Self::BEST`] with the most.
    #[serde(default)]
    pub addresses: Option<Vec<Address>>,
    /// What is not counted: [`LABELLED_ADDRESSES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labelled: Vec<LabelledAddresses>,
}

impl LeaderboardInput {
    /// How many addresses a contributor to [`LEADERBOARD`] gives by each of its metrics when it is asked for the best.
    pub const BEST: usize = 1000;

    /// Ends a statement that counts by address and has a `WHERE`: with the addresses of the input, or with those that come first by
    /// `order_by`, and never with labelled ones. Among equals the lower address comes first, as on the board.
    ///
    /// ```
    /// use plugin_api::{point::LeaderboardInput, sql};
    ///
    /// let input = LeaderboardInput::default();
    /// let count = sql("SELECT author, count(*) FROM notes_notes WHERE created_at >= $1").bind(input.since());
    /// let best = input.select(count, "author", "count(*) DESC");
    /// assert_eq!(best.param_count(), 1);
    /// ```
    pub fn select(&self, count: Sql, address: &str, order_by: &str) -> Sql {
        let counted = LabelledAddresses::leave_out(&self.labelled, address);
        let count = if self.labelled.is_empty() { count } else { count.push(&format!(" AND {counted}")) };
        let Some(addresses) = &self.addresses else {
            let end = format!(" GROUP BY {address} ORDER BY {order_by}, {address} LIMIT {}", Self::BEST);
            return count.push(&end);
        };
        let first = count.param_count() + 1;
        let mut placeholders: Vec<String> =
            (first..first + addresses.len()).map(|number| format!("${number}")).collect();
        if placeholders.is_empty() {
            placeholders.push("NULL".to_owned());
        }
        let count = count.push(&format!(" AND {address} IN ({}) GROUP BY {address}", placeholders.join(", ")));
        addresses.iter().fold(count, |count, address| count.bind(*address))
    }

    /// The first Unix second that counts.
    pub fn since(&self) -> i64 {
        self.since_s.unwrap_or(i64::MIN)
    }
}

/// Exact counts for one address in the period. The collector adds up the metrics of several plugins; addresses without
/// any are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Metrics {
    /// Jobs in status Completed, of the agents that the address owns.
    #[serde(skip_serializing_if = "is_zero")]
    pub completed_jobs: u64,
    /// Sum of the ratings of those agents, 1 to 5 each.
    #[serde(skip_serializing_if = "is_zero")]
    pub rating_sum: u64,
    /// Number of those ratings.
    #[serde(skip_serializing_if = "is_zero")]
    pub rating_count: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub forum_posts: u64,
    /// Revisions of pages.
    #[serde(skip_serializing_if = "is_zero")]
    pub kb_edits: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub artifacts: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub stars_received: u64,
    /// Closed challenges whose winning submission is the address's.
    #[serde(skip_serializing_if = "is_zero")]
    pub arena_wins: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde wants")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl std::ops::AddAssign for Metrics {
    fn add_assign(&mut self, more: Self) {
        let sum = |ours: &mut u64, more: u64| *ours = ours.saturating_add(more);
        sum(&mut self.completed_jobs, more.completed_jobs);
        sum(&mut self.rating_sum, more.rating_sum);
        sum(&mut self.rating_count, more.rating_count);
        sum(&mut self.forum_posts, more.forum_posts);
        sum(&mut self.kb_edits, more.kb_edits);
        sum(&mut self.artifacts, more.artifacts);
        sum(&mut self.stars_received, more.stars_received);
        sum(&mut self.arena_wins, more.arena_wins);
    }
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

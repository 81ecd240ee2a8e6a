//! Tools: lists, reads and writes.

use crate::model::{ComputeSpec, ComputeText, ToolId, ToolKind, ToolSpec, ToolState, ToolText, ToolView};
use plugin_api::{Address, HostError, List, Query, Sql, Tx, handles::StatementResult, json_text, render_json, sql};
use serde::Deserialize;

/// The columns of a [`ToolState`].
macro_rules! state_columns {
    ($rendered:literal) => {
        concat!(
            $rendered,
            " AS rendered, id, owner, online, nullif(seen_at, 0) AS last_seen, nullif(last_probe_at, 0) AS last_probe_at"
        )
    };
}

const ORDER: &str = "online DESC, updated_at DESC, id DESC";

/// Tools, online ones first, then the latest.
pub const TOOLS: List = List::new("tools_tools", state_columns!("kept")).order_by(ORDER);

/// The same with the members of `compute` at the top; for [`IS_COMPUTE`].
pub const COMPUTE: List = List::new("tools_tools", state_columns!("kept_compute")).order_by(ORDER);

/// The newest listings of compute, as [`Offer`]s; where `kept_compute` is, for which the index of this order is.
pub const OFFERS: List = List::new("tools_tools", "id, owner, description, created_at, kept_compute AS rendered")
    .order_by("created_at DESC, id DESC");

pub const IS_COMPUTE: &str = "kind = 'compute'";

/// A listing of compute as work.
#[derive(Deserialize)]
pub struct Offer {
    pub id: ToolId,
    pub owner: Address,
    pub description: String,
    pub created_at: i64,
    #[serde(deserialize_with = "json_text")]
    pub rendered: RenderedOffer,
}

#[derive(Deserialize)]
pub struct RenderedOffer {
    pub name: String,
    pub compute: ComputeSpec,
}

/// The listing of compute with this id.
pub async fn find_offer(db: &impl Query, tool: ToolId) -> Result<Option<Offer>, HostError> {
    let offers = OFFERS.filter_if(true, "kept_compute IS NOT NULL").filter("id = {}", Some(tool));
    Ok(offers.rows(db).await?.pop())
}

/// One row, a [`ToolState`], or none.
pub async fn find(db: &impl Query, tool: ToolId) -> Result<StatementResult, HostError> {
    db.run(sql(concat!("SELECT ", state_columns!("kept"), " FROM tools_tools WHERE id = $1")).bind(tool)).await
}

/// The same for compute, with its members at the top.
pub async fn find_compute(db: &impl Query, tool: ToolId) -> Result<StatementResult, HostError> {
    const FIND: &str = concat!(
        "SELECT ",
        state_columns!("kept_compute"),
        " FROM tools_tools WHERE id = $1 AND kept_compute IS NOT NULL"
    );
    db.run(sql(FIND).bind(tool)).await
}

/// Number of all tools, and of those that are online.
pub async fn count_all(db: &impl Query) -> Result<(i64, i64), HostError> {
    let counts = "SELECT cast(coalesce(sum(row_count), 0) AS BIGINT), \
        cast(coalesce(sum(row_count * online), 0) AS BIGINT) FROM tools_tools_counts";
    db.one(sql(counts)).await
}

/// Selects the number of tools of that kind, or of all; with `is_online`, of those that are online.
pub fn stored_total(kind: Option<ToolKind>, is_online: bool) -> Sql {
    let total = sql("SELECT cast(sum(row_count) AS BIGINT) FROM tools_tools_counts WHERE online >= $1");
    total.bind(is_online).push_filter(" AND kind = {}", kind)
}

#[derive(Deserialize)]
struct Before {
    url: String,
    created_at: i64,
    online: bool,
    seen_at: i64,
    last_probe_at: i64,
}

/// Inserts a tool, or replaces the one of this owner and name; returns it, and whether it existed. A new URL resets the
/// results of probes; in both cases the tool is due for the next probe.
pub async fn publish(tx: &Tx, owner: Address, spec: &ToolSpec) -> Result<(ToolView, bool), HostError> {
    let now_s = tx.now_s();
    let find =
        sql("SELECT url, created_at, online, seen_at, last_probe_at FROM tools_tools WHERE owner = $1 AND name = $2");
    let before: Option<Before> = tx.row(find.bind((owner, &spec.name))).await?;
    let created_at = before.as_ref().map_or(now_s, |tool| tool.created_at);
    let known = before.as_ref().filter(|tool| tool.url == spec.url);
    let unknown = (false, 0, 0);
    let (online, seen_at, probed_at) = known.map_or(unknown, |tool| (tool.online, tool.seen_at, tool.last_probe_at));
    let text = ToolText { spec: spec.clone(), created_at, updated_at: now_s };
    let compute = spec.compute.as_ref();
    let rendered_compute = compute.map(|spec| render_json(&ComputeText { tool: &text, spec })).transpose()?;
    let put = sql(
        "INSERT INTO tools_tools (owner, name, kind, url, description, gpu, vram_gb, price_key, region, created_at, \
         updated_at, online, probed_at, seen_at, kept, kept_compute, last_probe_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13, $14, $15, $16) \
         ON CONFLICT (owner, name) DO UPDATE SET kind = excluded.kind, url = excluded.url, \
         description = excluded.description, gpu = excluded.gpu, vram_gb = excluded.vram_gb, \
         price_key = excluded.price_key, region = excluded.region, updated_at = excluded.updated_at, \
         online = excluded.online, probed_at = 0, seen_at = excluded.seen_at, kept = excluded.kept, \
         kept_compute = excluded.kept_compute, last_probe_at = excluded.last_probe_at RETURNING id",
    )
    .bind((owner, &spec.name, spec.kind, &spec.url, &spec.description))
    .bind((compute.map(|compute| compute.gpu.as_str()), compute.and_then(|compute| compute.vram_gb.as_f64())))
    .bind(compute.map(|compute| compute.price_per_second.sort_key()))
    .bind((compute.map(|compute| compute.region.as_str()), created_at, now_s, online, seen_at))
    .bind((render_json(&text)?, rendered_compute, probed_at));
    let (id, known_time) = (tx.one(put).await?, |at_s: i64| Some(at_s).filter(|at_s| *at_s != 0));
    let (last_seen, last_probe_at) = (known_time(seen_at), known_time(probed_at));
    let state = ToolState { rendered: "", id, owner: owner.into(), online, last_seen, last_probe_at };
    Ok((ToolView { text, state }, before.is_some()))
}

//! Tools: reads and writes.

use crate::model::{ComputeText, ToolDraft, ToolId, ToolText};
use plugin_api::{Address, HostError, Query, StatementResult, Tx, render_json, sql};
use serde::Deserialize;

/// The columns of a tool for responses.
#[derive(Deserialize)]
pub struct ToolRow<'r> {
    pub id: ToolId,
    pub kept: &'r str,
    pub owner: Address,
    pub online: bool,
    /// 0 means never.
    pub seen_at: i64,
    pub probed_at: i64,
}

/// One row, [`ToolRow`], or none.
pub async fn find(db: &impl Query, tool: ToolId) -> Result<StatementResult, HostError> {
    db.run(sql("SELECT id, kept, owner, online, seen_at, probed_at FROM tools_tools WHERE id = $1").bind(tool)).await
}

/// The same for compute, with its members at the top level.
pub async fn find_compute(db: &impl Query, tool: ToolId) -> Result<StatementResult, HostError> {
    let find = sql("SELECT id, kept_compute AS kept, owner, online, seen_at, probed_at FROM tools_tools \
         WHERE id = $1 AND kept_compute IS NOT NULL");
    db.run(find.bind(tool)).await
}

/// A tool after a write.
pub struct StoredTool {
    pub id: ToolId,
    pub text: ToolText,
    /// Whether a tool of this owner and name existed.
    pub updated: bool,
    pub online: bool,
    /// 0 means never.
    pub seen_at: i64,
}

#[derive(Deserialize)]
struct Before {
    url: String,
    created_at: i64,
    online: bool,
    seen_at: i64,
}

/// Inserts a tool, or replaces the one of this owner and name. A new URL resets the probe results; in both cases the tool is
/// due for the next probe.
pub async fn publish(tx: &Tx, owner: Address, draft: ToolDraft, now_s: i64) -> Result<StoredTool, HostError> {
    let find = sql("SELECT url, created_at, online, seen_at FROM tools_tools WHERE owner = $1 AND name = $2");
    let before: Option<Before> = tx.row(find.bind(owner).bind(&draft.name)).await?;
    let created_at = before.as_ref().map_or(now_s, |tool| tool.created_at);
    let known = before.as_ref().filter(|tool| tool.url == draft.url);
    let (online, seen_at) = known.map_or((false, 0), |tool| (tool.online, tool.seen_at));
    let (vram_gb, spec) = draft.compute.map(|compute| (compute.vram_gb, compute.spec)).unzip();
    let ToolDraft { name, kind, url, description, schema, .. } = draft;
    let text = ToolText { name, kind, url, description, schema, compute: spec.clone(), created_at, updated_at: now_s };
    let kept_compute = spec.clone().map(|spec| render_json(&ComputeText { tool: text.clone(), spec })).transpose()?;
    let put = sql(
        "INSERT INTO tools_tools (owner, name, kind, url, description, gpu, vram_gb, price_key, region, created_at, \
         updated_at, online, probed_at, seen_at, kept, kept_compute) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13, $14, $15) \
         ON CONFLICT (owner, name) DO UPDATE SET kind = excluded.kind, url = excluded.url, \
         description = excluded.description, gpu = excluded.gpu, vram_gb = excluded.vram_gb, \
         price_key = excluded.price_key, region = excluded.region, updated_at = excluded.updated_at, \
         online = excluded.online, probed_at = 0, seen_at = excluded.seen_at, kept = excluded.kept, \
         kept_compute = excluded.kept_compute RETURNING id",
    )
    .bind(owner)
    .bind(&text.name)
    .bind(text.kind)
    .bind(&text.url)
    .bind(&text.description)
    .bind(spec.as_ref().map(|spec| spec.gpu.as_str()))
    .bind(vram_gb)
    .bind(spec.as_ref().map(|spec| spec.price_per_second.sort_key()))
    .bind(spec.as_ref().map(|spec| spec.region.as_str()))
    .bind(created_at)
    .bind(now_s)
    .bind(online)
    .bind(seen_at)
    .bind(render_json(&text)?)
    .bind(kept_compute);
    let id = tx.one(put).await?;
    Ok(StoredTool { id, text, updated: before.is_some(), online, seen_at })
}

//! Contributions of the registry to extension points.

use crate::{
    Tools,
    model::{ComputeSpec, ToolPublished},
    store::{
        probes,
        tool_list::{self, OfferRow},
    },
};
use plugin_api::{
    Hash256, HostError, HostErrorCode, PluginContext,
    point::{
        Counters, NoInput, PayloadReferencesInput, ServiceStatus, WorkEvent, WorkInput, WorkItem, WorkKind, members,
    },
    referenced_payloads,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const COMPUTE: &str = "/api/compute";
/// Maximum number of listings in the list of work.
const OFFERS_MAX: u32 = 200;

pub async fn counters(cx: PluginContext<Tools>, _: NoInput) -> Result<Counters, HostError> {
    let (tools, online) = tool_list::count_all(&cx.db()).await?;
    let manifest = members([("tools", tools.into()), ("toolsOnline", online.into())]);
    Ok(Counters { manifest, ..Counters::default() })
}

pub async fn status(cx: PluginContext<Tools>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let progress = probes::progress(&cx.db()).await?;
    let (interval_s, now_s) = (i64::from(cx.plugin().config.probe_interval_s), cx.now_s());
    let ok = progress.is_healthy(interval_s, now_s);
    let numbers = members([
        ("tools", progress.tools.into()),
        ("online", progress.online.into()),
        ("waiting", progress.waiting.into()),
        ("oldestProbeAgeS", progress.oldest_s.map(|at| (now_s - at).max(0)).into()),
        ("intervalS", interval_s.into()),
    ]);
    let detail = (!ok).then(|| "tools are not probed in time".to_owned());
    Ok([("tools".to_owned(), ServiceStatus { ok, enabled: None, detail, numbers })].into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublishedTool {
    tool_id: i64,
}

/// Compute for rent: its provider earns when it is used.
pub async fn work(cx: PluginContext<Tools>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let tool = match made_by {
        None => None,
        Some(WorkEvent { event_type, data }) if event_type == ToolPublished::TYPE => {
            let published: PublishedTool = serde_json::from_value(data).map_err(invalid)?;
            Some(published.tool_id)
        }
        Some(_) => return Ok(Vec::new()),
    };
    let offers = tool_list::offers(&cx.db(), tool, OFFERS_MAX).await?;
    offers.into_iter().map(work_item).collect()
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

#[derive(Deserialize)]
struct Offer {
    name: String,
    compute: ComputeSpec,
}

fn work_item(row: OfferRow) -> Result<WorkItem, HostError> {
    let Offer { name, compute } = serde_json::from_str(&row.kept_compute).map_err(invalid)?;
    let ComputeSpec { gpu, vram_gb, price_per_second, region, endpoint } = compute;
    let tags = ["compute".to_owned(), "x402".to_owned(), gpu.to_lowercase(), region.to_lowercase()];
    let summary = if row.description.trim().is_empty() {
        format!("{gpu} with {vram_gb} GB for {price_per_second} wei a second")
    } else {
        row.description
    };
    Ok(WorkItem {
        kind: WorkKind::Endpoint,
        ref_id: row.id,
        variant: Some("compute".into()),
        title: name,
        summary,
        tags: tags.into_iter().filter(|tag| !tag.is_empty()).collect(),
        reward: price_per_second,
        posted_at: row.created_at,
        deadline: None,
        agent_id: None,
        claims: 0,
        requester: Some(row.owner),
        page: format!("/compute/{}", row.id),
        api: format!("{COMPUTE}/{}", row.id),
        action: format!("POST {endpoint} {{input}} with an x402 payment of {price_per_second} wei for each second"),
    })
}

pub async fn payload_references(
    cx: PluginContext<Tools>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let page = "SELECT id, kept FROM tools_tools WHERE id > $1 ORDER BY id LIMIT 100";
    referenced_payloads(&cx.db(), &hashes.into_iter().collect(), page).await
}

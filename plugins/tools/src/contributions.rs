//! Contributions of the registry to extension points.

use crate::{
    Tools,
    model::{ComputeSpec, ToolPublished},
    store::{
        probes,
        tools::{self, IS_COMPUTE, OFFERS, Offer, RenderedOffer},
    },
};
use plugin_api::{
    Event, Hash256, HostError, PluginContext,
    point::{Counters, NoInput, PayloadReferencesInput, ServiceStatus, WorkInput, WorkItem, WorkKind, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of listings in the list of work.
const OFFERS_MAX: u32 = 200;

pub async fn counters(cx: PluginContext<Tools>, _: NoInput) -> Result<Counters, HostError> {
    let (tools, online) = tools::count_all(&cx.db()).await?;
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

/// Compute for rent: its provider earns when it is used. All listings, or the one that was just published.
pub async fn work(cx: PluginContext<Tools>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let published = match made_by {
        None => None,
        Some(event) => match event.data["toolId"].as_i64().filter(|_| event.event_type == ToolPublished::TYPE) {
            None => return Ok(Vec::new()),
            tool => tool,
        },
    };
    let offers = OFFERS.filter_if(true, IS_COMPUTE).filter("id = {}", published).page(OFFERS_MAX, 0);
    Ok(offers.rows(&cx.db()).await?.into_iter().map(work_item).collect())
}

fn work_item(Offer { id, owner, description, created_at, rendered }: Offer) -> WorkItem {
    let RenderedOffer { name, compute } = rendered;
    let ComputeSpec { gpu, vram_gb, price_per_second, region, endpoint } = compute;
    let tags = ["compute".to_owned(), "x402".to_owned(), gpu.to_lowercase(), region.to_lowercase()];
    let summary = if description.trim().is_empty() {
        format!("{gpu} with {vram_gb} GB for {price_per_second} wei a second")
    } else {
        description
    };
    WorkItem {
        kind: WorkKind::Endpoint,
        ref_id: id.0,
        variant: Some("compute".into()),
        title: name,
        summary,
        tags: tags.into_iter().filter(|tag| !tag.is_empty()).collect(),
        reward: price_per_second,
        posted_at: created_at,
        deadline: None,
        agent_id: None,
        claims: 0,
        requester: Some(owner),
        page: format!("/compute/{id}"),
        api: format!("/api/compute/{id}"),
        action: format!("POST {endpoint} {{input}} with an x402 payment of {price_per_second} wei for each second"),
    }
}

pub async fn payload_references(
    cx: PluginContext<Tools>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let page = "SELECT id, kept FROM tools_tools WHERE id > $1 ORDER BY id LIMIT 100";
    referenced_payloads(&cx.db(), &hashes.into_iter().collect(), page).await
}

//! Contributions of the registry to extension points.

use crate::{Tools, model, store};
use plugin_api::{
    Event, HostError, PluginContext,
    point::{Counters, NoInput, ServiceStatus, WorkInput, WorkItem, WorkKind},
};
use std::collections::BTreeMap;

/// Maximum number of listings in the list of work.
const OFFERS_MAX: u32 = 200;

pub async fn counters(cx: PluginContext<Tools>, _: NoInput) -> Result<Counters, HostError> {
    let (tools, online) = store::tools::count_all(&cx.db()).await?;
    Ok(Counters::manifest([("tools", tools.into()), ("toolsOnline", online.into())]))
}

pub async fn status(cx: PluginContext<Tools>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let progress = store::probes::progress(&cx.db()).await?;
    let (interval_s, now_s) = (i64::from(cx.plugin().config.probe_interval_s), cx.now_s());
    let ok = progress.is_healthy(interval_s, now_s);
    let numbers = [
        ("tools", progress.tools.into()),
        ("online", progress.online.into()),
        ("waiting", progress.waiting.into()),
        ("oldestProbeAgeS", progress.oldest_s.map(|at| (now_s - at).max(0)).into()),
        ("intervalS", interval_s.into()),
    ];
    Ok(ServiceStatus::new(ok, "tools are not probed in time", numbers).named("tools"))
}

/// Compute for rent: its provider earns when it is used. All listings, or the one that was just published.
pub async fn work(cx: PluginContext<Tools>, input: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let Some(published) = input.selection(&[model::ToolPublished::TYPE], "toolId") else { return Ok(Vec::new()) };
    let offers =
        store::tools::OFFERS.filter_if(true, "kept_compute IS NOT NULL").filter("id = {}", published).first(OFFERS_MAX);
    Ok(offers.rows(&cx.db()).await?.into_iter().map(work_item).collect())
}

fn work_item(store::tools::Offer { id, owner, description, created_at, rendered }: store::tools::Offer) -> WorkItem {
    let store::tools::RenderedOffer { name, compute } = rendered;
    let model::ComputeSpec { gpu, vram_gb, price_per_second, region, endpoint } = compute;
    let tags = ["compute".to_owned(), "x402".to_owned(), gpu.to_lowercase(), region.to_lowercase()];
    let summary = if description.trim().is_empty() {
        format!("{gpu} with {vram_gb} GB for {price_per_second} wei a second")
    } else {
        description
    };
    WorkItem {
        variant: Some("compute".into()),
        title: name,
        summary,
        tags: tags.into_iter().filter(|tag| !tag.is_empty()).collect(),
        reward: price_per_second,
        posted_at: created_at,
        requester: Some(owner),
        page: format!("/compute/{id}"),
        api: format!("/api/compute/{id}"),
        action: format!("POST {endpoint} {{input}} with an x402 payment of {price_per_second} wei for each second"),
        ..WorkItem::new(WorkKind::Endpoint, id.0)
    }
}

//! `GET /api/compute`: compute for rent, by GPU, region, memory, price and online status; online listings first.

use crate::{Tools, error::ToolsError, model, store};
use plugin_api::{
    HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, SearchIndex, Wei,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Tools> {
    Route::get("/api/compute", list_compute)
        .public()
        .cached()
        .summary("List compute for rent, online listings first")
        .endpoint("compute")
        .briefing("Compute", "GPUs by the second (gpu, region, minVramGb, maxPricePerSecond, online=1, q)")
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct ComputeFilter {
    /// A part of name or description; ASCII letters match in either case.
    q: String,
    /// A part of the GPU's name.
    gpu: String,
    /// A part of the region.
    region: String,
    /// A number: at least so much memory.
    min_vram_gb: String,
    /// Wei: at most this price.
    max_price_per_second: String,
    /// `1` or `true`: only listings whose last probe succeeded.
    online: model::OnlineOnly,
}

// The members beside `items`. (A doc comment would be part of the published schema.)
#[derive(Serialize, JsonSchema)]
struct ComputeList {
    /// How many listings match, on all pages.
    total: i64,
    /// How prices are meant.
    pricing: &'static str,
}

const PRICING: &str =
    "pricePerSecond is in wei for each second of use; the provider asks for it at its endpoint, by x402";

async fn list_compute(
    cx: RequestContext<Tools>,
    QueryString(query): QueryString<ComputeFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::ComputeView, ComputeList>, HandlerError<ToolsError>> {
    let vram_gb_min = model::parse_given(&query.min_vram_gb, |text| {
        text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or(ToolsError::VramMin)
    })?;
    let price_max = model::parse_given(&query.max_price_per_second, |text| text.parse().map_err(ToolsError::PriceMax))?;
    let [search, gpu, region] = [&query.q, &query.gpu, &query.region].map(|text| Search::new(&cx, text));
    let is_counted =
        vram_gb_min.is_none() && price_max.is_none() && [&search, &gpu, &region].iter().all(|it| it.is_none());
    let page = store::tools::COMPUTE
        .filter_if(true, store::tools::IS_COMPUTE)
        .filter_if(query.online.0, "online = 1")
        .filter("vram_gb >= {}", vram_gb_min)
        .filter("price_key <= {}", price_max.as_ref().map(Wei::sort_key))
        .search(search, "id", &SearchIndex::new("tools_tools", &["name", "description"]))
        .contains(gpu, &["gpu"])
        .contains(region, &["region"])
        .stored_total(is_counted.then(|| store::tools::stored_total(Some(model::ToolKind::Compute), query.online.0)))
        .page(limit, offset)
        .fetch(&cx.db())
        .await?;
    let rows: Vec<model::ToolState<'_>> = page.rows()?;
    let items = rows.iter().map(|row| (row.rendered, row));
    Ok(Listed::rendered(items, ComputeList { total: page.total, pricing: PRICING })?)
}

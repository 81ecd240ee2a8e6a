//! `GET /api/compute`: compute for rent, by GPU, region, memory, price and online status; online listings first.

use super::render;
use crate::{
    Tools,
    error::ToolsError,
    model::{ComputeFilter, ComputeView},
    store::tool_list::{self, Filter},
};
use plugin_api::{HandlerError, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search};
use serde::Serialize;

pub fn route() -> Route<Tools> {
    Route::get("/api/compute", list_compute)
        .public()
        .cached()
        .summary("List compute for rent, online listings first")
        .endpoint("compute")
        .briefing("Compute", "GPUs by the second (gpu, region, minVramGb, maxPricePerSecond, online=1, q)")
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct ComputeList {
    items: Vec<ComputeView>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
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
) -> Result<RenderedJson<ComputeList>, HandlerError<ToolsError>> {
    let texts: [(&str, &[&str]); 3] =
        [(&query.q, &["name", "description"]), (&query.gpu, &["gpu"]), (&query.region, &["region"])];
    let searches = texts.into_iter().filter_map(|(text, columns)| Some((Search::new(&cx, text)?, columns)));
    let filter = Filter {
        searches: searches.collect(),
        vram_gb_min: query.vram_gb_min()?,
        price_max: query.price_max()?,
        online_only: query.online.0,
        compute: true,
        ..Filter::default()
    };
    let page = tool_list::list(&cx.db(), &filter, limit, offset).await?;
    Ok(render::list(&cx, &page, &Rest { total: page.total, pricing: PRICING }).await?)
}

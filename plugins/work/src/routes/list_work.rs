//! `GET /api/work`: all open work of all enabled plugins.

use super::tests_of;
use crate::{Work, error::WorkError, model, store::open_work};
use plugin_api::{Author, HandlerError, Json, JsonSchema, Page, QueryString, RequestContext, Route, point};
use serde::Serialize;
use std::collections::BTreeMap;

const FEED: &str = "/api/work/feed";
const HOW: &str = "`action` of each item is the call that earns it. Signed calls are described in the manifest under `signing`. \
     Follow `feed` (SSE) with the same filters to hear of new work.";

pub fn route() -> Route<Work> {
    Route::get("/api/work", list_work)
        .public()
        .summary("List everything that can be earned now")
        .endpoint("work")
        .briefing(
            "Work",
            "capability, minReward (wei, or FMX with a dot), kind, agentId, sort=new|reward; `action` of an item \
             is the call that earns it",
        )
        .example("GET /api/work?sort=reward&minReward=0.5")
        .example("GET /api/work?agentId=7&kind=job,bounty")
}

#[derive(Serialize, JsonSchema)]
struct WorkList {
    items: Vec<model::WorkItemView>,
    /// How many items match, on all pages.
    total: usize,
    /// Of these, by kind.
    counts: BTreeMap<&'static str, usize>,
    /// The kinds there are.
    kinds: Vec<&'static str>,
    /// The gateway's clock, unix seconds.
    now: i64,
    filter: model::FilterView,
    /// The same as a live stream.
    feed: String,
    /// How to go on.
    how: &'static str,
}

async fn list_work(
    cx: RequestContext<Work>,
    QueryString(query): QueryString<model::WorkQuery>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Json<WorkList>, HandlerError<WorkError>> {
    let (filter, offset) = (query.check()?, offset.offset()?);
    let tests = tests_of(&cx, &filter).await?;
    // No `List`: the items come from other plugins, not from a table.
    let mut items = open_work::collect(cx.plugin_context(), &point::WorkInput::default()).await?;
    items.retain(|item| model::matches(item, &tests));
    filter.sort.apply(&mut items);

    let count = |kind| items.iter().filter(|item| item.kind == kind).count();
    let (total, counts) = (items.len(), model::KINDS.map(|kind| (model::kind_name(kind), count(kind))).into());
    let environment = cx.environment();
    let (base_url, web_url) = (&environment.base_url, environment.web_url.as_deref());
    let view = |item: point::WorkItem| {
        let requester = item.requester.map(Author::from);
        model::WorkItemView::new(item, web_url, requester)
    };
    Ok(Json(WorkList {
        items: items.into_iter().skip(offset as usize).take(limit as usize).map(view).collect(),
        total,
        counts,
        kinds: model::KINDS.map(model::kind_name).into(),
        now: cx.now_s(),
        filter,
        feed: format!("{base_url}{FEED}"),
        how: HOW,
    }))
}

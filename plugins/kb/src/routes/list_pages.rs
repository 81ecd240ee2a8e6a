//! `GET /api/kb`: pages by age or title; with `q` those that contain all its words, the best match first.

use crate::{Kb, model, store};
use plugin_api::{HandlerError, HostError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, lenient};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub fn route() -> Route<Kb> {
    Route::get("/api/kb", list_pages)
        .public()
        .cached()
        .summary("List and search the knowledge base")
        .endpoint("kb")
        .briefing(
            "Pages",
            "list (sort=updated|title) and search (q); /{slug} is a page, PUT a signed kb.write there to write \
             it, /{slug}/history has its revisions (rev)",
        )
        .example("GET /api/kb?q=escrow dispute")
}

#[derive(Deserialize, JsonSchema)]
struct PageFilter {
    /// An unknown order is `updated`. A search has its own order.
    #[serde(default, deserialize_with = "lenient")]
    sort: model::Sort,
    /// Words or beginnings of words, twelve at most: pages that have all of them.
    #[serde(default)]
    q: String,
}

#[derive(Serialize, JsonSchema)]
struct PageList {
    /// How many pages there are; null in a search.
    total: Option<i64>,
    /// What was searched for; null in a list.
    q: Option<String>,
    /// Whether this is a ranked search.
    fts: bool,
}

async fn list_pages(
    cx: RequestContext<Kb>,
    QueryString(PageFilter { sort, q }): QueryString<PageFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::PageSummary, PageList>, HandlerError> {
    if !q.trim().is_empty() {
        return Ok(search_pages(&cx, q, limit, offset.offset()?).await?);
    }
    let page = store::pages::list(sort).page(limit, offset).fetch(&cx.db()).await?;
    let rows: Vec<model::SummaryRow<'_>> = page.rows()?;
    let items = rows.iter().map(|row| (row.kept, row));
    Ok(Listed::rendered(items, PageList { total: Some(page.total), q: None, fts: false })?)
}

/// No [`plugin_api::List`]: the index of each database ranks its own hits, and the bodies of one page of them are read after.
async fn search_pages(
    cx: &RequestContext<Kb>,
    q: String,
    limit: u32,
    offset: u32,
) -> Result<Listed<model::PageSummary, PageList>, HostError> {
    let db = cx.db();
    let query = model::SearchQuery::parse(&q);
    let hits = match &query {
        Some(query) => cx.plugin().index.find(&db, query, limit, offset).await?,
        None => Vec::new(),
    };
    let rest = PageList { total: None, q: Some(q), fts: true };
    let Some(query) = query.filter(|_| !hits.is_empty()) else {
        return Listed::rendered(std::iter::empty::<(&str, model::SummaryRow<'_>)>(), rest);
    };
    let found = store::search::read(&db, &hits).await?;
    let rows: Vec<store::pages::PageRow<'_>> = found.all()?;
    let mut rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
    let items = hits.iter().filter_map(|hit| {
        let store::pages::PageRow { kept, created_by, updated_by, body, .. } = rows.remove(&hit.id)?;
        let (snippet, rank) = (Some(model::snippet(body, &query)), Some(hit.rank()));
        Some((kept, model::SummaryRow { kept, created_by, updated_by, snippet, rank }))
    });
    Listed::rendered(items, rest)
}

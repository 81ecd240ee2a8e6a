//! `GET /api/kb`: pages by age or title; with `q` those that contain all its words, the best match first.

use crate::{
    Kb,
    model::{Editors, Found, PageText, SearchQuery, Sort, snippet},
    store::{
        page_list::{self, ListRow},
        search::{self, FoundRow},
        totals,
    },
};
use plugin_api::{
    HandlerError, HostError, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, lenient,
};
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
    sort: Sort,
    /// Words or beginnings of words, twelve at most: pages that have all of them.
    #[serde(default)]
    q: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct PageList {
    items: Vec<PageSummary>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(JsonSchema)]
#[schemars(rename = "KbPageSummary")]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct PageSummary {
    #[schemars(flatten)]
    text: PageText,
    #[schemars(flatten)]
    found: Found,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
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
) -> Result<RenderedJson<PageList>, HandlerError> {
    if q.trim().is_empty() {
        return Ok(list(&cx, sort, limit, offset).await?);
    }
    Ok(find(&cx, q, limit, offset).await?)
}

async fn list(
    cx: &RequestContext<Kb>,
    sort: Sort,
    limit: u32,
    offset: u32,
) -> Result<RenderedJson<PageList>, HostError> {
    let db = cx.db();
    let outcome = page_list::list(&db, sort, limit, offset).await?;
    let total = totals::read(&db).await?.pages;
    let rows: Vec<ListRow<'_>> = outcome.all()?;
    let authors = cx.authors(rows.iter().flat_map(|row| [row.created_by, row.updated_by])).await?;
    let items = rows.iter().map(|row| {
        let editors = Editors { created_by: authors.get(row.created_by), updated_by: authors.get(row.updated_by) };
        (row.kept, Found { editors, snippet: None, rank: None })
    });
    RenderedJson::list("items", items, &Rest { total: Some(total), q: None, fts: false })
}

async fn find(
    cx: &RequestContext<Kb>,
    q: String,
    limit: u32,
    offset: u32,
) -> Result<RenderedJson<PageList>, HostError> {
    let db = cx.db();
    let query = SearchQuery::parse(&q);
    let hits = match &query {
        Some(query) => cx.plugin().index.find(&db, query, limit, offset).await?,
        None => Vec::new(),
    };
    let rest = Rest { total: None, q: Some(q), fts: true };
    let Some(query) = query.filter(|_| !hits.is_empty()) else {
        return RenderedJson::list("items", std::iter::empty::<(&str, Found)>(), &rest);
    };
    let outcome = search::read(&db, &hits).await?;
    let rows: Vec<FoundRow<'_>> = outcome.all()?;
    let authors = cx.authors(rows.iter().flat_map(|row| [row.created_by, row.updated_by])).await?;
    let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
    let items = hits.iter().filter_map(|hit| {
        let row = rows.get(&hit.id)?;
        let editors = Editors { created_by: authors.get(row.created_by), updated_by: authors.get(row.updated_by) };
        Some((row.kept, Found { editors, snippet: Some(snippet(row.body, &query)), rank: Some(hit.rank()) }))
    });
    RenderedJson::list("items", items, &rest)
}

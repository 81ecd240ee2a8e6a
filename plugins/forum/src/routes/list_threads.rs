//! `GET /api/forum/threads`: threads by activity, age or votes; filtered by tag or text.

use super::render;
use crate::{
    Forum,
    model::{Sort, ThreadView},
    store::thread_list::{self, Filter, PageRequest},
};
use plugin_api::{
    Failure, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search, format, lenient,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Forum> {
    Route::get("/api/forum/threads", list_threads)
        .public()
        .cached()
        .summary("List and search threads")
        .endpoint("forum")
        .briefing(
            "Threads",
            "list and search (sort, q, tag); POST a signed thread.create to open one; /{id} is a thread with all \
             its posts, POST a signed post.create to /{id}/posts to reply",
        )
        .example("GET /api/forum/threads?sort=top&tag=help")
        .example("GET /api/forum/threads?q=escrow")
}

#[derive(Deserialize, JsonSchema)]
struct ThreadFilter {
    /// An unknown order is `active`.
    #[serde(default, deserialize_with = "lenient")]
    sort: Sort,
    /// A part of the title or of any post; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// Threads with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct ThreadList {
    items: Vec<ThreadView>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
    /// How many threads match, on all pages.
    total: i64,
}

async fn list_threads(
    cx: RequestContext<Forum>,
    QueryString(query): QueryString<ThreadFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<RenderedJson<ThreadList>, Failure> {
    let tag = Some(format::tag(&query.tag)).filter(|tag| !tag.is_empty());
    let filter = Filter { search: Search::new(&cx, &query.q), tag };
    let window = PageRequest { sort: query.sort, limit, offset };
    let page = thread_list::list(&cx.db(), &filter, window).await?;
    let rows = page.rows()?;
    let authors = cx.authors(rows.iter().map(|row| row.author)).await?;
    let items = rows.iter().map(|row| (row.kept, render::listed(row, &authors)));
    Ok(RenderedJson::list("items", items, &Rest { total: page.total })?)
}

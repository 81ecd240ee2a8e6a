//! `GET /api/forum/threads`: threads by activity, age or votes; filtered by tag or text.

use crate::{Forum, model, store};
use plugin_api::{HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, format, lenient};
use serde::Deserialize;

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
    sort: model::Sort,
    /// A part of the title or of any post; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// Threads with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
}

async fn list_threads(
    cx: RequestContext<Forum>,
    QueryString(ThreadFilter { sort, q, tag }): QueryString<ThreadFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<Listed<model::ThreadView>, HandlerError> {
    let (tag, search) = (format::tag_filter(&tag), Search::new(&cx, &q));
    let db = cx.db();
    let threads = store::thread_list::threads(&db, sort, tag.as_deref(), search.as_ref()).await?;
    let page = threads.page(limit, offset).fetch(&db).await?;
    let rows: Vec<model::ThreadState<'_>> = page.rows()?;
    Ok(Listed::rendered(rows.iter().map(|row| (row.rendered, row)), page.total)?)
}

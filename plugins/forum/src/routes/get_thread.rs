//! `GET /api/forum/threads/{id}`: a thread with all its posts.

use super::render;
use crate::{
    Forum,
    error::ForumError,
    model::{ThreadDetail, ThreadId},
    store::thread_detail,
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Forum> {
    Route::get("/api/forum/threads/{id}", get_thread).public().cached().summary("Read a thread with all its posts")
}

async fn get_thread(
    cx: RequestContext<Forum>,
    Path(thread): Path<ThreadId>,
) -> Result<RenderedJson<ThreadDetail<'static>>, HandlerError<ForumError>> {
    let unknown = || ForumError::UnknownThread { thread };
    let stored = thread_detail::find(&cx.db(), thread).await?.ok_or_else(unknown)?;
    let rows = stored.rows()?;
    let first = rows.first().ok_or_else(unknown)?;
    let authors = cx.authors(rows.iter().map(|row| row.post_author).chain([first.author])).await?;
    Ok(RenderedJson::object(first.kept, &render::detail(thread, first, &rows, &authors))?)
}

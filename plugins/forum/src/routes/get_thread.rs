//! `GET /api/forum/threads/{id}`: a thread with all its posts.

use crate::{Forum, error::ForumError, model, store};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Forum> {
    Route::get("/api/forum/threads/{id}", get_thread).public().cached().summary("Read a thread with all its posts")
}

async fn get_thread(
    cx: RequestContext<Forum>,
    Path(thread): Path<model::ThreadId>,
) -> Result<RenderedJson<model::ThreadDetail>, HandlerError<ForumError>> {
    let rows = store::thread_detail::read(&cx.db(), thread).await?;
    let detail = rows.detail(thread)?.ok_or(ForumError::UnknownThread { thread })?;
    Ok(RenderedJson::object(detail.state.rendered, &detail)?)
}

//! `GET /api/forum/threads/{id}`: a thread with all its posts.

use super::render;
use crate::{
    Forum,
    error::ForumError,
    model::{ThreadDetail, ThreadId},
    store::{posts, threads},
};
use plugin_api::{Context, Failure, Json, Path, Route};

pub fn route() -> Route<Forum> {
    Route::get("/api/forum/threads/{id}", get_thread).public().cached().summary("Read a thread with all its posts")
}

async fn get_thread(
    cx: Context<Forum>,
    Path(thread): Path<ThreadId>,
) -> Result<Json<ThreadDetail>, Failure<ForumError>> {
    let db = cx.db();
    let row = threads::find(&db, thread).await?.ok_or(ForumError::UnknownThread { thread })?;
    let posts = posts::of_thread(&db, thread).await?;
    let authors = cx.authors(posts.iter().map(|post| post.author).chain([row.author])).await?;
    Ok(Json(render::detail(row.counting(&posts), posts, &authors)))
}

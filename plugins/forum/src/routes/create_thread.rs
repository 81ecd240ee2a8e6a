//! `POST /api/forum/threads`: a thread with its opening post, signed by its author.

use super::render;
use crate::{
    Forum,
    error::ForumError,
    model::{NewThread, ThreadCreated, ThreadDetail},
    store::threads,
};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Forum> {
    Route::post("/api/forum/threads", create_thread)
        .signed("thread.create")
        .rate_limit(RateLimit::commons_writes())
        .summary("Open a thread")
        .example("POST /api/forum/threads {title, body, tags} signed as thread.create")
}

async fn create_thread(
    cx: RequestContext<Forum>,
    Signed { signer, payload }: Signed<NewThread>,
) -> Result<Created<ThreadDetail<'static>>, HandlerError<ForumError>> {
    let draft = payload.check()?;
    // Runs before the first statement: an open transaction blocks other writers.
    let authors = cx.authors([signer]).await?;
    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let (thread, post) = threads::open(&tx, signer, draft, now_s).await?;
    let text = &thread.text;
    let event = ThreadCreated { thread_id: thread.id, title: &text.title, tags: &text.tags, excerpt: &text.excerpt };
    event.by(signer).at(now_s).publish(&tx)?;
    Ok(Created(render::opened(thread, post, &authors)))
}

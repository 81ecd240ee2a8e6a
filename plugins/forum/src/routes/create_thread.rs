//! `POST /api/forum/threads`: a thread with its opening post, signed by its author.

use crate::{
    Forum,
    error::ForumError,
    model::{NewThread, ThreadCreated, ThreadDetail, ThreadView},
    store::threads,
};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed};

pub fn route() -> Route<Forum> {
    Route::post("/api/forum/threads", create_thread)
        .signed("thread.create")
        .commons_limit()
        .summary("Open a thread")
        .example("POST /api/forum/threads {title, body, tags} signed as thread.create")
}

async fn create_thread(
    cx: RequestContext<Forum>,
    Signed { signer, payload }: Signed<NewThread>,
) -> Result<Created<ThreadDetail>, HandlerError<ForumError>> {
    let draft = payload.check()?;
    let opened = cx
        .write(async move |tx| {
            let opened = threads::open(tx, signer, &draft).await?;
            let ThreadView { text, state } = &opened.thread;
            let event =
                ThreadCreated { thread_id: state.id, title: &text.title, tags: &text.tags, excerpt: &text.excerpt };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            Ok(opened)
        })
        .await?;
    Ok(Created(opened))
}

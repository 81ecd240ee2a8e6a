//! `POST /api/forum/threads/{id}/posts`: a reply, signed by its author. A reply that says `+1` is a vote.

use crate::{Forum, error::ForumError, model, store};
use plugin_api::{Created, Event, HandlerError, Path, RequestContext, Route, Signed};

pub fn route() -> Route<Forum> {
    Route::post("/api/forum/threads/{id}/posts", create_post)
        .signed("post.create")
        .commons_limit()
        .needs_row("thread", "id", "SELECT 1 FROM forum_threads WHERE id = $1")
        .summary("Reply to a thread, or vote for it with the body +1")
}

async fn create_post(
    cx: RequestContext<Forum>,
    Path(thread): Path<model::ThreadId>,
    Signed { signer, payload }: Signed<model::NewPost>,
) -> Result<Created<model::PostView<'static>>, HandlerError<ForumError>> {
    let draft = payload.check()?;
    // Posts are never deleted, so a read before the write stays valid in it.
    if let Some(reply_to) = draft.reply_to
        && !store::posts::is_in_thread(&cx.db(), reply_to, thread).await?
    {
        return Err(ForumError::UnknownReply { thread, reply_to }.into());
    }
    let post = cx
        .write(async move |tx| {
            let stored = store::threads::reply(tx, thread, signer, &draft).await?;
            let (title, post) = stored.ok_or(ForumError::UnknownThread { thread })?;
            let event = model::PostCreated {
                thread_id: thread,
                post_id: post.id,
                thread_title: &title,
                upvote: draft.is_upvote(),
                excerpt: &draft.excerpt(),
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            Ok(post)
        })
        .await?;
    Ok(Created(post))
}

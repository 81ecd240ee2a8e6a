//! Converts rows to response types.

use crate::{
    model::{DetailState, FeedItem, PostView, ThreadDetail, ThreadId, ThreadState, ThreadView},
    store::{
        posts::{FeedRow, PostRow},
        thread_detail::DetailRow,
        thread_list::ListRow,
        threads::OpenedThread,
    },
};

pub fn listed(row: &ListRow<'_>) -> ThreadState {
    let ListRow { id, author, last_post_at, post_count, upvotes, .. } = *row;
    ThreadState { id, author: author.into(), last_post_at, post_count, upvotes }
}

pub fn opened(thread: OpenedThread, opening: PostRow) -> ThreadDetail<'static> {
    let OpenedThread { id, text, author, upvotes } = thread;
    let state = ThreadState { id, author: author.into(), last_post_at: text.created_at, post_count: 1, upvotes };
    ThreadDetail { thread: ThreadView { text, state }, posts: vec![post(opening)] }
}

/// `first` must be one of `rows`.
pub fn detail<'r>(id: ThreadId, first: &DetailRow<'r>, rows: &[DetailRow<'r>]) -> DetailState<'r> {
    let DetailRow { author, last_post_at, post_count, upvotes, .. } = *first;
    let state = ThreadState { id, author: author.into(), last_post_at, post_count, upvotes };
    let posts = rows.iter().map(|row| PostView {
        id: row.post_id,
        thread_id: id,
        author: row.post_author.into(),
        body: row.body.into(),
        reply_to: row.reply_to,
        created_at: row.created_at,
    });
    DetailState { state, posts: posts.collect() }
}

pub fn post(row: PostRow) -> PostView<'static> {
    let PostRow { id, thread_id, author, body, reply_to, created_at } = row;
    PostView { id, thread_id, author: author.into(), body: body.into(), reply_to, created_at }
}

pub fn feed_item(row: FeedRow) -> FeedItem {
    let FeedRow { id, thread_id, author, body, reply_to, created_at, thread_title } = row;
    let post = PostView { id, thread_id, author: author.into(), body: body.into(), reply_to, created_at };
    FeedItem { post, thread_title }
}

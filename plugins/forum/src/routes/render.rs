//! Converts rows to response types and adds the names of authors at read time.

use crate::{
    model::{DetailState, FeedItem, PostView, ThreadDetail, ThreadId, ThreadState, ThreadView},
    store::{
        posts::{FeedRow, PostRow},
        thread_detail::DetailRow,
        thread_list::ListRow,
        threads::OpenedThread,
    },
};
use plugin_api::Authors;

pub fn listed(row: &ListRow<'_>, authors: &Authors) -> ThreadState {
    let ListRow { id, author, last_post_at, post_count, upvotes, .. } = *row;
    ThreadState { id, author: authors.get(author), last_post_at, post_count, upvotes }
}

pub fn opened(thread: OpenedThread, opening: PostRow, authors: &Authors) -> ThreadDetail<'static> {
    let OpenedThread { id, text, author, upvotes } = thread;
    let author = authors.get(author);
    let state = ThreadState { id, author, last_post_at: text.created_at, post_count: 1, upvotes };
    ThreadDetail { thread: ThreadView { text, state }, posts: vec![post(opening, authors)] }
}

/// `first` must be one of `rows`.
pub fn detail<'r>(id: ThreadId, first: &DetailRow<'r>, rows: &[DetailRow<'r>], authors: &Authors) -> DetailState<'r> {
    let DetailRow { author, last_post_at, post_count, upvotes, .. } = *first;
    let state = ThreadState { id, author: authors.get(author), last_post_at, post_count, upvotes };
    let posts = rows.iter().map(|row| PostView {
        id: row.post_id,
        thread_id: id,
        author: authors.get(row.post_author),
        body: row.body.into(),
        reply_to: row.reply_to,
        created_at: row.created_at,
    });
    DetailState { state, posts: posts.collect() }
}

pub fn post(row: PostRow, authors: &Authors) -> PostView<'static> {
    let PostRow { id, thread_id, author, body, reply_to, created_at } = row;
    PostView { id, thread_id, author: authors.get(author), body: body.into(), reply_to, created_at }
}

pub fn feed_item(row: FeedRow, authors: &Authors) -> FeedItem {
    let FeedRow { id, thread_id, author, body, reply_to, created_at, thread_title } = row;
    let post = PostView { id, thread_id, author: authors.get(author), body: body.into(), reply_to, created_at };
    FeedItem { post, thread_title }
}

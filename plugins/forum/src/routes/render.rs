//! From rows to what readers get: authors get their names here, at read time.

use crate::{
    model::{FeedItem, PostView, ThreadDetail, ThreadView},
    store::{
        posts::{FeedRow, PostRow},
        threads::ThreadRow,
    },
};
use plugin_api::Authors;

pub fn thread(row: ThreadRow, authors: &Authors) -> ThreadView {
    let ThreadRow { id, title, tags, author, created_at, last_post_at, post_count, excerpt, upvotes } = row;
    let author = authors.get(author);
    ThreadView { id, title, tags, author, created_at, last_post_at, post_count, excerpt, upvotes }
}

pub fn post(row: PostRow, authors: &Authors) -> PostView {
    let PostRow { id, thread_id, author, body, reply_to, created_at } = row;
    PostView { id, thread_id, author: authors.get(author), body, reply_to, created_at }
}

pub fn detail(row: ThreadRow, posts: Vec<PostRow>, authors: &Authors) -> ThreadDetail {
    let posts = posts.into_iter().map(|row| post(row, authors)).collect();
    ThreadDetail { thread: thread(row, authors), posts }
}

pub fn feed_item(row: FeedRow, authors: &Authors) -> FeedItem {
    let FeedRow { id, thread_id, author, body, reply_to, created_at, thread_title } = row;
    let post = PostView { id, thread_id, author: authors.get(author), body, reply_to, created_at };
    FeedItem { post, thread_title }
}

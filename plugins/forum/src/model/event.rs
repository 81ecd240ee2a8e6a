//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{PostId, ThreadId};
use plugin_api::Event;
use serde::Serialize;

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("thread.create", subject = "thread", id = thread_id)]
pub struct ThreadCreated<'a> {
    pub thread_id: ThreadId,
    pub title: &'a str,
    pub tags: &'a [String],
    pub excerpt: &'a str,
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("post.create", subject = "thread", id = thread_id)]
pub struct PostCreated<'a> {
    pub thread_id: ThreadId,
    pub post_id: PostId,
    pub thread_title: &'a str,
    pub upvote: bool,
    pub excerpt: &'a str,
}

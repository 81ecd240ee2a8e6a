//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{PostId, ThreadId};
use plugin_api::{Address, EventBuilder, HostError};
use serde::Serialize;

/// Data of `thread.create`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadCreated<'a> {
    pub thread_id: ThreadId,
    pub title: &'a str,
    pub tags: &'a [String],
    pub excerpt: &'a str,
}

impl ThreadCreated<'_> {
    pub const TYPE: &'static str = "thread.create";

    pub fn by(&self, author: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        about_thread(Self::TYPE, self, self.thread_id, author, now_s)
    }
}

/// Data of `post.create`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PostCreated<'a> {
    pub thread_id: ThreadId,
    pub post_id: PostId,
    pub thread_title: &'a str,
    pub upvote: bool,
    pub excerpt: &'a str,
}

impl PostCreated<'_> {
    pub const TYPE: &'static str = "post.create";

    pub fn by(&self, author: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        about_thread(Self::TYPE, self, self.thread_id, author, now_s)
    }
}

fn about_thread(
    kind: &str,
    data: &impl Serialize,
    thread: ThreadId,
    author: Address,
    now_s: i64,
) -> Result<EventBuilder, HostError> {
    Ok(EventBuilder::new(kind, data).actor(author).subject("thread", thread).at(now_s))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_members_match_the_wire_format() {
        let tags = ["a".to_owned()];
        let event = ThreadCreated { thread_id: ThreadId(1), title: "T", tags: &tags, excerpt: "E" };
        assert_eq!(
            serde_json::to_value(event).unwrap(),
            json!({ "threadId": 1, "title": "T", "tags": ["a"], "excerpt": "E" })
        );
        let event =
            PostCreated { thread_id: ThreadId(1), post_id: PostId(2), thread_title: "T", upvote: true, excerpt: "+1" };
        assert_eq!(
            serde_json::to_value(event).unwrap(),
            json!({ "threadId": 1, "postId": 2, "threadTitle": "T", "upvote": true, "excerpt": "+1" })
        );
    }
}

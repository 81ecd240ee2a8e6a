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

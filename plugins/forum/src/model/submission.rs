//! Request payloads, and their checked forms.

use super::{Body, PostId};
use crate::error::ForumError;
use plugin_api::{JsonSchema, format};
use serde::Deserialize;

pub const TITLE_CHARS_MAX: usize = 200;

/// Payload of `thread.create`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewThread {
    /// 1 to 200 characters (UTF-16 units) after trimming.
    title: String,
    /// Markdown, not blank, at most 16,384 bytes.
    body: String,
    /// At most 5; trimmed, lower-cased, at most 32 characters each.
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// A checked thread.
#[derive(Debug, PartialEq, Eq)]
pub struct ThreadDraft {
    pub title: String,
    pub body: Body,
    pub tags: Vec<String>,
}

impl NewThread {
    pub fn check(self) -> Result<ThreadDraft, ForumError> {
        let title = self.title.trim();
        if !(1..=TITLE_CHARS_MAX).contains(&format::utf16_len(title)) {
            return Err(ForumError::Title);
        }
        let body = Body::new(self.body)?;
        let tags = format::tags(&self.tags.unwrap_or_default()).map_err(ForumError::Tags)?;
        Ok(ThreadDraft { title: title.to_owned(), body, tags })
    }
}

/// Payload of `post.create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPost {
    /// Markdown, not blank, at most 16,384 bytes. Exactly `+1` is a vote for the thread.
    body: String,
    /// A post of the same thread.
    #[serde(default)]
    reply_to: Option<PostId>,
}

/// A checked post; whether `reply_to` exists is checked separately.
#[derive(Debug, PartialEq, Eq)]
pub struct PostDraft {
    pub body: Body,
    pub reply_to: Option<PostId>,
}

impl NewPost {
    pub fn check(self) -> Result<PostDraft, ForumError> {
        Ok(PostDraft { body: Body::new(self.body)?, reply_to: self.reply_to })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::format::TagsError;
    use serde_json::{Value, json};

    fn thread(payload: Value) -> Result<ThreadDraft, ForumError> {
        serde_json::from_value::<NewThread>(payload).unwrap().check()
    }

    fn post(payload: Value) -> Result<PostDraft, serde_json::Error> {
        serde_json::from_value::<NewPost>(payload).map(|post| post.check().unwrap())
    }

    #[test]
    fn title_and_tags_are_normalised_and_the_body_is_not() {
        let draft = thread(json!({ "title": " A title\n", "body": " b ", "tags": [" Rust", "rust", ""] })).unwrap();
        assert_eq!((draft.title.as_str(), draft.body.as_str()), ("A title", " b "));
        assert_eq!(draft.tags, ["rust"]);
    }

    #[test]
    fn tags_may_be_left_out() {
        for payload in [json!({ "title": "t", "body": "b" }), json!({ "title": "t", "body": "b", "tags": null })] {
            assert!(thread(payload).unwrap().tags.is_empty());
        }
    }

    #[test]
    fn a_title_has_1_to_200_utf16_units() {
        let title = |title: &str| thread(json!({ "title": title, "body": "b" })).map(|draft| draft.title);
        for text in ["", " \n\t "] {
            assert_eq!(title(text), Err(ForumError::Title), "{text:?}");
        }
        // Characters of one, two and three bytes, and one of four bytes that is two UTF-16 units.
        for (character, fits) in [("a", 200), ("é", 200), ("€", 200), ("😀", 100)] {
            let text = character.repeat(fits);
            assert_eq!(title(&format!(" {text} ")), Ok(text.clone()), "{character} at the limit");
            assert_eq!(title(&format!("{text}a")), Err(ForumError::Title), "{character} over the limit");
        }
    }

    #[test]
    fn the_first_wrong_member_is_named() {
        let long = "x".repeat(20_000);
        let refused = |payload| thread(payload).unwrap_err();
        assert_eq!(
            refused(json!({ "title": "", "body": long, "tags": ["1", "2", "3", "4", "5", "6"] })),
            ForumError::Title
        );
        let error = refused(json!({ "title": "t", "body": long, "tags": ["1", "2", "3", "4", "5", "6"] }));
        assert_eq!(error, ForumError::BodyTooLarge { bytes: 20_000 });
        let error = refused(json!({ "title": "t", "body": "b", "tags": ["1", "2", "3", "4", "5", "6"] }));
        assert_eq!(error, ForumError::Tags(TagsError::TooMany));
        let error = refused(json!({ "title": "t", "body": "b", "tags": ["x".repeat(33)] }));
        assert_eq!(error, ForumError::Tags(TagsError::TooLong));
    }

    #[test]
    fn a_reply_names_a_post_or_nothing() {
        let reply_to = |payload| post(payload).map(|draft| draft.reply_to);
        assert_eq!(reply_to(json!({ "body": "b" })).unwrap(), None);
        assert_eq!(reply_to(json!({ "body": "b", "replyTo": null })).unwrap(), None);
        assert_eq!(reply_to(json!({ "body": "b", "replyTo": 7 })).unwrap(), Some(PostId(7)));
        assert_eq!(reply_to(json!({ "body": "b", "replyTo": "7" })).unwrap(), Some(PostId(7)));
        for other in [json!(0), json!(-1), json!(1.5), json!(true), json!("x"), json!([1])] {
            assert!(reply_to(json!({ "body": "b", "replyTo": other })).is_err(), "{other}");
        }
    }
}

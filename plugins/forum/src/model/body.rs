//! The text of a post. It is stored exactly as sent.

use crate::error::ForumError;
use plugin_api::format;

pub const BODY_BYTES_MAX: usize = 16_384;
const EXCERPT_CHARS: usize = 240;
const UPVOTE: &str = "+1";

/// Whether a post with this text is a vote for its thread.
pub fn is_upvote(text: &str) -> bool {
    text.trim() == UPVOTE
}

/// A checked text: not blank, not too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body(String);

impl Body {
    pub fn new(text: String) -> Result<Self, ForumError> {
        if text.trim().is_empty() {
            return Err(ForumError::BlankBody);
        }
        if text.len() > BODY_BYTES_MAX {
            return Err(ForumError::BodyTooLarge { bytes: text.len() });
        }
        Ok(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_upvote(&self) -> bool {
        is_upvote(&self.0)
    }

    pub fn excerpt(&self) -> String {
        format::excerpt(&self.0, EXCERPT_CHARS)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn body(text: &str) -> Result<Body, ForumError> {
        Body::new(text.to_owned())
    }

    #[test]
    fn a_body_is_kept_as_it_was_sent() {
        let text = "  # Title\r\n\n\ttext ✓ \n";
        assert_eq!(body(text).unwrap().as_str(), text);
    }

    #[test]
    fn a_blank_body_is_refused() {
        for text in ["", " ", "\n\t\r\n", "\u{a0}\u{2003}\u{3000}"] {
            assert_eq!(body(text), Err(ForumError::BlankBody), "{text:?}");
        }
    }

    #[test]
    fn the_limit_counts_utf8_bytes() {
        // Characters of one, two, three and four bytes.
        for character in ["a", "é", "€", "😀"] {
            let fits = character.repeat(BODY_BYTES_MAX / character.len());
            let filled = format!("{fits}{}", "a".repeat(BODY_BYTES_MAX - fits.len()));
            assert!(body(&filled).is_ok(), "{character} at the limit");
            let over = Err(ForumError::BodyTooLarge { bytes: BODY_BYTES_MAX + 1 });
            assert_eq!(body(&format!("{filled}a")), over, "{character} over the limit");
        }
    }

    #[test]
    fn only_a_plain_plus_one_is_a_vote() {
        for text in ["+1", " +1\n", "\t+1 "] {
            assert!(body(text).unwrap().is_upvote(), "{text:?}");
        }
        for text in ["+1!", "+ 1", "＋1", "1", "+10", "+1 +1", "I say +1"] {
            assert!(!body(text).unwrap().is_upvote(), "{text:?}");
        }
    }

    #[test]
    fn the_excerpt_is_one_line_of_240_characters() {
        assert_eq!(body(" one\n\n two ").unwrap().excerpt(), "one two");
        assert_eq!(body(&"x".repeat(240)).unwrap().excerpt(), "x".repeat(240));
        assert_eq!(body(&"x".repeat(241)).unwrap().excerpt(), format!("{}…", "x".repeat(239)));
    }
}

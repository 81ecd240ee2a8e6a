//! Tags of threads, bounties, artifacts and challenges.

use super::chars;

pub const TAGS_MAX: usize = 5;
pub const TAG_CHARS_MAX: usize = 32;

/// Why a list of tags is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTags {
    #[error("at most {TAGS_MAX} tags")]
    TooMany,
    #[error("a tag has at most {TAG_CHARS_MAX} characters")]
    TooLong,
}

/// One tag as it is stored and compared: trimmed, lower case.
pub fn tag(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Tags as they are stored: trimmed, lower case, without empty ones and doubles.
pub fn tags(given: &[String]) -> Result<Vec<String>, BadTags> {
    if given.len() > TAGS_MAX {
        return Err(BadTags::TooMany);
    }
    let mut kept: Vec<String> = Vec::with_capacity(given.len());
    for text in given {
        let text = tag(text);
        if chars(&text) > TAG_CHARS_MAX {
            return Err(BadTags::TooLong);
        }
        if !text.is_empty() && !kept.contains(&text) {
            kept.push(text);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tags: &[&str]) -> Vec<String> {
        tags.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tags_are_normalised() {
        assert_eq!(tags(&list(&[" Rust ", "rust", "", "ÄÖ"])), Ok(list(&["rust", "äö"])));
    }

    #[test]
    fn too_many_and_too_long() {
        assert_eq!(tags(&list(&["a", "b", "c", "d", "e", "f"])), Err(BadTags::TooMany));
        assert_eq!(tags(&list(&[&"x".repeat(32)])).map(|tags| tags.len()), Ok(1));
        assert_eq!(tags(&list(&[&"x".repeat(33)])), Err(BadTags::TooLong));
        assert_eq!(tags(&list(&[&"😀".repeat(17)])), Err(BadTags::TooLong));
    }
}

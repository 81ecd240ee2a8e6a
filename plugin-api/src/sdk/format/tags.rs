//! Tags of threads, bounties, artifacts and challenges.

use super::utf16_len;

pub const TAGS_MAX: usize = 5;
const TAG_CHARS_MAX: usize = 32;

/// Why a list of tags was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagsError {
    #[error("at most {TAGS_MAX} tags")]
    TooMany,
    #[error("a tag has at most {TAG_CHARS_MAX} characters")]
    TooLong,
}

/// Normalises a tag for storage and comparison: trimmed, lower case.
pub fn tag(text: &str) -> String {
    text.trim().to_lowercase()
}

/// The tag that a list is filtered by, normalised as in storage; `None` when the text is blank.
pub fn tag_filter(text: &str) -> Option<String> {
    Some(tag(text)).filter(|tag| !tag.is_empty())
}

/// Normalises tags for storage: trimmed, lower case, without empty ones and duplicates.
pub fn tags(input: &[String]) -> Result<Vec<String>, TagsError> {
    if input.len() > TAGS_MAX {
        return Err(TagsError::TooMany);
    }
    let mut normalised: Vec<String> = Vec::with_capacity(input.len());
    for text in input {
        let text = tag(text);
        if utf16_len(&text) > TAG_CHARS_MAX {
            return Err(TagsError::TooLong);
        }
        if !text.is_empty() && !normalised.contains(&text) {
            normalised.push(text);
        }
    }
    Ok(normalised)
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
    fn a_blank_filter_is_none() {
        assert_eq!(tag_filter(" Rust\n"), Some("rust".to_owned()));
        assert_eq!((tag_filter(""), tag_filter(" ")), (None, None));
    }

    #[test]
    fn too_many_and_too_long() {
        assert_eq!(tags(&list(&["a", "b", "c", "d", "e", "f"])), Err(TagsError::TooMany));
        assert_eq!(tags(&list(&[&"x".repeat(32)])).map(|tags| tags.len()), Ok(1));
        assert_eq!(tags(&list(&[&"x".repeat(33)])), Err(TagsError::TooLong));
        assert_eq!(tags(&list(&[&"😀".repeat(17)])), Err(TagsError::TooLong));
    }
}

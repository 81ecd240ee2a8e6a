//! Request payloads, and their checked forms.

use super::Kind;
use crate::error::ArtifactsError;
use plugin_api::{JsonSchema, NewContent, format};
use serde::Deserialize;

pub const NAME_CHARS_MAX: usize = 120;
pub const DESCRIPTION_CHARS_MAX: usize = 4000;
pub const LICENSE_CHARS_MAX: usize = 64;

/// Payload of `artifact.publish`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewArtifact {
    /// 1 to 120 characters (UTF-16 units) after trimming.
    name: String,
    kind: Kind,
    /// At most 4000 characters.
    #[serde(default)]
    description: Option<String>,
    /// At most 64 characters after trimming.
    #[serde(default)]
    license: Option<String>,
    /// At most 5; trimmed, lower-cased, at most 32 characters each.
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(flatten)]
    content: NewContent,
}

/// A checked artifact; its content is checked separately.
#[derive(Debug, PartialEq, Eq)]
pub struct ArtifactDraft {
    pub name: String,
    pub kind: Kind,
    pub description: String,
    pub license: String,
    pub tags: Vec<String>,
}

impl NewArtifact {
    pub fn check(self) -> Result<(ArtifactDraft, NewContent), ArtifactsError> {
        let name = self.name.trim();
        if !(1..=NAME_CHARS_MAX).contains(&format::utf16_len(name)) {
            return Err(ArtifactsError::Name);
        }
        let description = self.description.unwrap_or_default();
        if format::utf16_len(&description) > DESCRIPTION_CHARS_MAX {
            return Err(ArtifactsError::Description);
        }
        let license = self.license.unwrap_or_default().trim().to_owned();
        if format::utf16_len(&license) > LICENSE_CHARS_MAX {
            return Err(ArtifactsError::License);
        }
        let tags = format::tags(&self.tags.unwrap_or_default()).map_err(ArtifactsError::Tags)?;
        Ok((ArtifactDraft { name: name.to_owned(), kind: self.kind, description, license, tags }, self.content))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::format::TagsError;
    use serde_json::{Value, json};

    fn draft(payload: Value) -> Result<ArtifactDraft, ArtifactsError> {
        serde_json::from_value::<NewArtifact>(payload).unwrap().check().map(|(draft, _)| draft)
    }

    #[test]
    fn names_licenses_and_tags_are_trimmed_and_the_description_is_not() {
        let payload =
            json!({ "name": " N\n", "kind": "code", "description": " d ", "license": " MIT ", "tags": [" A", "a"] });
        let draft = draft(payload).unwrap();
        assert_eq!((draft.name.as_str(), draft.description.as_str(), draft.license.as_str()), ("N", " d ", "MIT"));
        assert_eq!((draft.kind, draft.tags), (Kind::Code, vec!["a".to_owned()]));
    }

    #[test]
    fn all_but_name_and_kind_may_be_left_out() {
        for payload in [
            json!({ "name": "n", "kind": "other" }),
            json!({ "name": "n", "kind": "other", "description": null, "license": null, "tags": null }),
        ] {
            let draft = draft(payload).unwrap();
            assert_eq!((draft.description.as_str(), draft.license.as_str(), draft.tags.len()), ("", "", 0));
        }
    }

    #[test]
    fn lengths_count_utf16_units() {
        for (member, limit, error) in [
            ("name", NAME_CHARS_MAX, ArtifactsError::Name),
            ("description", DESCRIPTION_CHARS_MAX, ArtifactsError::Description),
            ("license", LICENSE_CHARS_MAX, ArtifactsError::License),
        ] {
            for (character, units) in [("a", 1), ("é", 1), ("😀", 2)] {
                let mut payload = json!({ "name": "n", "kind": "model" });
                payload[member] = character.repeat(limit / units).into();
                assert!(draft(payload.clone()).is_ok(), "{member} of {character} at the limit");
                payload[member] = format!("{}a", character.repeat(limit / units)).into();
                assert_eq!(draft(payload).unwrap_err(), error, "{member} of {character} over the limit");
            }
        }
        assert_eq!(draft(json!({ "name": " ", "kind": "model" })), Err(ArtifactsError::Name));
        let tags = draft(json!({ "name": "n", "kind": "model", "tags": ["1", "2", "3", "4", "5", "6"] }));
        assert_eq!(tags, Err(ArtifactsError::Tags(TagsError::TooMany)));
    }
}

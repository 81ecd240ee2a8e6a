//! JSON in a text: how a column that holds it is read.

use serde::{
    Deserializer,
    de::{self, Visitor},
};
use std::{fmt, marker::PhantomData};

/// `#[serde(deserialize_with = "json_text")]`: decodes a text column that holds JSON.
///
/// ```
/// use plugin_api::json_text;
///
/// /// A row whose column `tags` holds for example `["rain","sun"]`.
/// #[derive(serde::Deserialize)]
/// struct NoteRow {
///     #[serde(deserialize_with = "json_text")]
///     tags: Vec<String>,
/// }
/// ```
pub fn json_text<'de, D: Deserializer<'de>, T: de::DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    struct JsonText<T>(PhantomData<T>);
    impl<T: de::DeserializeOwned> Visitor<'_> for JsonText<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a text that holds JSON")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            serde_json::from_str(text).map_err(E::custom)
        }
    }
    deserializer.deserialize_str(JsonText(PhantomData))
}

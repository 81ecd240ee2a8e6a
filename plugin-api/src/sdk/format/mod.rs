//! Formats that several plugins share on the wire: excerpts, tags, lengths, payload URIs.
//!
//! Limits "in characters" count UTF-16 code units, as the network's clients do; limits "in bytes" count UTF-8.
//!
//! ```
//! use plugin_api::format::{TAGS_MAX, TagsError, excerpt, payload_hash, payload_uri, tag, tag_filter, tags, utf16_len};
//!
//! let given: Vec<String> = [" Rust", "rust"].map(str::to_owned).into();
//! let stored: Result<Vec<String>, TagsError> = tags(&given);
//! assert_eq!(stored, Ok(vec![tag("RUST")]));
//! assert_eq!((tag_filter("Rust "), tag_filter(" ")), (Some("rust".to_owned()), None));
//! assert!(given.len() <= TAGS_MAX);
//!
//! assert_eq!((excerpt("a long  text", 7), utf16_len("😀")), ("a long…".to_owned(), 2));
//! let hash = payload_hash(&format!("0x{}", "AB".repeat(32)));
//! assert_eq!(hash.map(payload_uri), Some(format!("fmx://payload/0x{}", "ab".repeat(32))));
//! ```

mod canonical;
mod excerpt;
mod payload;
mod tags;

pub use canonical::{canonical_json, write_canonical};
pub use excerpt::excerpt;
pub(crate) use payload::payload_hashes;
pub use payload::{payload_hash, payload_uri};
pub use tags::{TAGS_MAX, TagsError, tag, tag_filter, tags};

use std::ops::RangeInclusive;

/// The trimmed text of an optional filter or member; `None` when it is blank.
///
/// ```
/// use plugin_api::format::given;
///
/// assert_eq!((given(" a "), given(" ")), (Some("a"), None));
/// ```
pub fn given(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// The trimmed text; `None` unless its length is in this range.
///
/// ```
/// use plugin_api::format::trimmed;
///
/// assert_eq!((trimmed(" title ", 1..=5), trimmed(" ", 1..=5)), (Some("title".to_owned()), None));
/// ```
pub fn trimmed(text: &str, chars: RangeInclusive<usize>) -> Option<String> {
    let text = text.trim();
    chars.contains(&utf16_len(text)).then(|| text.to_owned())
}

/// Refuses a text that is blank, or has more bytes than this.
///
/// ```
/// use plugin_api::format::not_blank;
///
/// let check = |text: &str| not_blank(text, 4, "there is nothing in it", |bytes| if bytes > 9 { "far too long" } else { "too long" });
/// assert_eq!((check("text"), check(" \n "), check("texts")), (Ok(()), Err("there is nothing in it"), Err("too long")));
/// ```
pub fn not_blank<E>(text: &str, bytes_max: usize, blank: E, too_large: impl FnOnce(usize) -> E) -> Result<(), E> {
    match text.len() {
        _ if text.trim().is_empty() => Err(blank),
        bytes if bytes > bytes_max => Err(too_large(bytes)),
        _ => Ok(()),
    }
}

/// A text in XML, SVG or HTML: between tags, or as an attribute's value.
///
/// ```
/// use plugin_api::format::xml_escaped;
///
/// assert_eq!(xml_escaped("<a b='\"c\"'>&"), "&lt;a b=&#39;&quot;c&quot;&#39;&gt;&amp;");
/// ```
pub fn xml_escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Length in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

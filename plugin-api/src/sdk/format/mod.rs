//! Formats that several plugins share on the wire: excerpts, tags, lengths, payload URIs.
//!
//! Limits "in characters" count UTF-16 code units, as the network's clients do; limits "in bytes" count UTF-8.

mod excerpt;
mod payload;
mod tags;

pub use excerpt::excerpt;
pub use payload::{payload_hash, payload_hashes, payload_uri};
pub use tags::{TAG_CHARS_MAX, TAGS_MAX, TagsError, tag, tag_filter, tags};

/// Length in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

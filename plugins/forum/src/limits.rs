//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed title, in UTF-16 units.
pub const TITLE_CHARS_MAX: usize = 200;
/// Of the body of a post, in bytes.
pub const BODY_BYTES_MAX: usize = 16_384;

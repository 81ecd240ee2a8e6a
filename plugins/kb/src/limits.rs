//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed title, in UTF-16 units.
pub const TITLE_CHARS_MAX: usize = 200;
/// Of a trimmed summary, in UTF-16 units.
pub const SUMMARY_CHARS_MAX: usize = 300;
/// Of title and body together, in bytes.
pub const PAGE_BYTES_MAX: usize = 65_536;

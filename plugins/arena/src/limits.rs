//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed title, in UTF-16 units.
pub const TITLE_CHARS_MAX: usize = 200;
/// Of the brief of a challenge, in bytes.
pub const BRIEF_BYTES_MAX: usize = 16_384;
/// Of the rules of a challenge, in bytes.
pub const RULES_BYTES_MAX: usize = 8_192;
/// Of the note of a submission, in bytes.
pub const NOTE_BYTES_MAX: usize = 4_096;

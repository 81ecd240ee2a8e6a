//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed subject, in UTF-16 units.
pub const SUBJECT_CHARS_MAX: usize = 200;
/// Of a body, in bytes.
pub const BODY_BYTES_MAX: usize = 16_384;

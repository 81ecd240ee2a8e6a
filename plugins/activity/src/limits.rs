//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed status, in UTF-16 units.
pub const STATUS_CHARS_MAX: usize = 140;

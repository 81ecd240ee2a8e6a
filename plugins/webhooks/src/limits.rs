//! Limits that the model checks and that the texts of errors name.

/// Of a secret, in UTF-16 units.
pub const SECRET_CHARS_MIN: usize = 16;
/// Of a secret, in UTF-16 units.
pub const SECRET_CHARS_MAX: usize = 128;

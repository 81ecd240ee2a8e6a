//! Limits that the model checks and that the texts of errors name.

/// Of a key, in characters, which are ASCII.
pub const KEY_CHARS_MAX: usize = 128;
/// Of a value, in bytes.
pub const VALUE_BYTES_MAX: i64 = 65_536;
/// Of the URI of a batch, in bytes.
pub const URI_BYTES_MAX: usize = 256;

//! Limits that the model checks and that the texts of errors name.

/// Of a description, in UTF-16 units.
pub const DESCRIPTION_CHARS_MAX: usize = 2000;
/// Of a schema as JSON without white space, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 32_768;

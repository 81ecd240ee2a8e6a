//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed name, in UTF-16 units.
pub const NAME_CHARS_MAX: usize = 120;
/// Of a description, in UTF-16 units.
pub const DESCRIPTION_CHARS_MAX: usize = 4000;
/// Of a trimmed name of a license, in UTF-16 units.
pub const LICENSE_CHARS_MAX: usize = 64;

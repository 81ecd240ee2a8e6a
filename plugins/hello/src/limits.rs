//! Limits that the model checks and that the texts of errors name.

/// Of a message, in UTF-16 units, which is how clients count.
pub const MESSAGE_CHARS_MAX: usize = 280;

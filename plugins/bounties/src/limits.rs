//! Limits that the model checks and that the texts of errors name.

/// Of a trimmed title, in UTF-16 units.
pub const TITLE_CHARS_MAX: usize = 200;
/// Of the brief of a bounty, in bytes.
pub const BRIEF_BYTES_MAX: usize = 16_384;
/// Of the pitch of a claim, in bytes.
pub const PITCH_BYTES_MAX: usize = 4_096;

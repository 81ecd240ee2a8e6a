//! Bounds of an envelope's ts, in Unix seconds.

/// How far ts may be from the gateway's clock, in the past and in the future, both ends included.
pub const TS_WINDOW_S: u64 = 300;

/// The largest integer that every JSON parser represents exactly.
pub(crate) const TS_MAX: u64 = (1 << 53) - 1;

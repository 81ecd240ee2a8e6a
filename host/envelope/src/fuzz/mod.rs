//! Fuzz targets for the code that parses requests. `cargo test` runs each for a second, `cargo xtask fuzz` longer, and
//! `cargo bolero test` with libFuzzer where that is installed. Rule: a finding becomes a file in the target's corpus
//! below `__fuzz__` and a named test beside the code that was wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod envelopes;
mod json;

//! What is wrong with the configuration.

/// What is wrong, where something is.
pub type Problems = Vec<Option<String>>;

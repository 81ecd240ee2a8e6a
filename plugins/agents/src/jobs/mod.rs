//! Work that runs by itself.

pub mod probe_cards;
pub mod read_review_window;

//! Scheduled jobs, one file per job.

pub mod count_labelled;
pub mod probe_cards;
pub mod prune_probe_days;
pub mod read_review_window;
pub mod request_validations;

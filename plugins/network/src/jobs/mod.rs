//! Scheduled jobs, one file each.

pub mod count_labelled;
pub mod draw_picture;
pub mod read_capabilities;

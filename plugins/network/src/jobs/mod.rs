//! Scheduled jobs, one file each.

pub mod draw_picture;
pub mod read_capabilities;

//! The house through its doors.

mod plugin_files;

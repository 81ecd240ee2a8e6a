//! The plugin's routes: one file per operation, named like its handler.

pub mod create_guest;
pub mod get_greeting;
pub mod list_guests;

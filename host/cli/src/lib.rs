//! The program `gateway`: arguments, exit codes, what each command does. Read `boot.rs` first.

pub mod banner;
pub mod boot;
pub mod cli;
pub mod commands;
mod pulse;

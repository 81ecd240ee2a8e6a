//! The program `gateway`: arguments, exit codes, what each command does. Read `boot.rs` first.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod arguments;
mod banner;
mod boot;
mod command_line;
pub mod commands;
mod exit_code;
mod key_secrecy;
mod open_files;
mod output;
mod plugin_details;
mod plugin_table;
mod replica_table;
mod report_arguments;
mod runtime_watchdog;
mod spare_threads;
mod verify_arguments;

pub use arguments::Cli;
pub use gateway_plugins::set_released_plugins;

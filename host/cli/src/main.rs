//! Arguments and exit codes only; continue reading in `boot.rs`.

use gateway_cli::Cli;

/// Replaces the C library's allocator, for plugins and SQLite too.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The sha256 of the plugins that this program was built with, when `cargo xtask dist` built it.
const RELEASED_PLUGINS: Option<&str> = option_env!("GATEWAY_RELEASED_PLUGINS");

fn main() -> std::process::ExitCode {
    if let Some(hashes) = RELEASED_PLUGINS {
        gateway_cli::set_released_plugins(hashes);
    }
    gateway_cli::commands::run(&Cli::of_command_line()).into()
}

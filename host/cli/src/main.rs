//! Arguments and exit codes only; continue reading in `boot.rs`.

use gateway_cli::Cli;

/// Replaces the C library's allocator, for plugins and SQLite too.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    gateway_cli::commands::run(&Cli::of_command_line()).into()
}

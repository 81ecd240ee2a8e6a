//! Arguments and exit codes only; `boot.rs` is where to read on.

use clap::Parser as _;
use gateway_cli::Cli;

/// For plugins and SQLite, too: it stands in for the C library's.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    gateway_cli::commands::run(&Cli::parse()).into()
}

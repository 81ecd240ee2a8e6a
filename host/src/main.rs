//! Arguments and exit codes only; `boot.rs` is where to read on.

use clap::Parser as _;
use host::cli::Cli;

fn main() -> std::process::ExitCode {
    host::commands::run(&Cli::parse()).into()
}

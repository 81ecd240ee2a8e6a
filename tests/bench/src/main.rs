//! The benchmarks of `cargo xtask bench`: starts the gateway and its peers, measures them in turn, writes BENCHMARKS.md.
//!
//! The rules: equal work (the first answers of all servers are compared, every answer is checked); CPU time of the server's
//! process is what is compared; every server is measured in every round.

mod bench;
mod copies;
mod delay_proxy;
mod document;
mod forum;
mod jobs;
mod load;
mod options;
mod peers;
mod pin;
mod prose;
mod report;
mod rounds;
mod server;
mod settle;
mod signing;
mod steps;

use anyhow::{Context as _, Result, bail, ensure};
use bench::Bench;
use clap::Parser as _;
use gateway_plugins::library_probe;
use jobs::{JOBS, Job};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use options::Options;
use std::{env, process::ExitCode};

/// The allocator of the gateway, which some jobs run in this process.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // A gateway linked into this program tries a library by running the program again.
    if env::args_os().skip(1).take(library_probe::COMMAND.len()).eq(library_probe::COMMAND) {
        return gateway_cli::commands::run(&gateway_cli::Cli::parse()).into();
    }
    let options = Options::parse();
    let done = match options.serve.as_deref() {
        // Not a peer: the gateway itself, as this program links it.
        Some("gateway") => {
            return gateway_cli::commands::run(&gateway_cli::Cli::parse_from(["gateway", "run"])).into();
        }
        Some(peer) => peers::serve(peer),
        None => run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let jobs = chosen(&options.jobs)?;
    // Thousands of streams at both ends; servers inherit it.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let bench = Bench::new(options)?;
    let is_written = (options.write || options.jobs.is_empty()) && !options.smoke;
    ensure!(!is_written || !cfg!(debug_assertions), "figures of a debug build are none: cargo xtask bench");
    let mut sections = Vec::new();
    for job in jobs {
        println!("{}", job.name);
        for section in job.run.sections(&bench).with_context(|| job.name)? {
            println!("\n{section}");
            sections.push(section);
        }
        // What was measured is kept, even if a later job fails.
        if is_written {
            document::write(options, &bench, &sections)?;
        }
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Job>> {
    if let Some(unknown) = names.iter().find(|name| JOBS.iter().all(|job| job.name != **name)) {
        let known: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
        bail!("there is no job {unknown:?}; there are: {}", known.join(", "));
    }
    let is_chosen = |job: &&Job| names.is_empty() || names.iter().any(|name| name == job.name);
    Ok(JOBS.iter().filter(is_chosen).collect())
}

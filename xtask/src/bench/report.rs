//! BENCHMARKS.md: the figures, with the machine they come from.

use super::Figure;
use crate::{Failure, process, repository};
use std::{fs, path::Path, process::Command};

pub fn write(root: &Path, figures: &[Figure], connections: usize, seconds: u64) -> Result<String, Failure> {
    let mut text = "# First figures\n\nWritten by `cargo xtask bench`: the release build with an empty SQLite file, on loopback. The load \
        generator runs on the same cores, so requests per second are what this machine does with both; CPU time per request \
        is the gateway's alone.\n\n"
        .to_owned();
    text.push_str(&format!("{}, version {}, {}.\n", date()?, repository::VERSION, machine()));
    text.push_str(&format!("{connections} kept-alive connections, {seconds} s each, after 1 s to warm up.\n\n"));
    text.push_str(
        "| GET | requests/s | gateway's CPU per request | median | 99 % within |\n|---|---:|---:|---:|---:|\n",
    );
    for figure in figures {
        text.push_str(&format!(
            "| `{}` | {:.0} | {:.1} µs | {} µs | {} µs |\n",
            figure.path, figure.requests_per_s, figure.cpu_us_per_request, figure.median_us, figure.p99_us
        ));
    }
    repository::write(&root.join("BENCHMARKS.md"), &text)?;
    Ok(text)
}

fn date() -> Result<String, Failure> {
    process::output(Command::new("date").args(["-u", "+%Y-%m-%d"]))
}

fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{cores} cores of {}", model.unwrap_or("an unnamed processor"))
}

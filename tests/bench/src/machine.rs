//! BENCHMARKS.md: the tables under a head that says where, when and how they were made.

use crate::{bench::Bench, options::Options, pin};
use anyhow::{Context as _, Result};
use std::{fmt::Write as _, fs, path::Path, process::Command, thread};

/// Writes the file into the repository that this program was built from.
pub fn write(options: &Options, bench: &Bench, sections: &str) -> Result<()> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("tests/bench lies in the repository")?;
    let file = root.join("BENCHMARKS.md");
    // What `cargo xtask abuse` measured stays.
    let before = fs::read_to_string(&file).unwrap_or_default();
    let abuse = before.find("## What others feel of abuse").map_or("", |start| &before[start..]);
    let space = if abuse.is_empty() { "" } else { "\n" };
    fs::write(&file, format!("{}\n{sections}{space}{abuse}", head(options, bench)))?;
    println!("written: {}", file.display());
    Ok(())
}

fn head(options: &Options, bench: &Bench) -> String {
    let scale = bench.scale;
    let mut text = "# Benchmarks\n\n".to_owned();
    let _ = writeln!(
        text,
        "Made by `cargo xtask bench{}` on {}, {}.\n",
        arguments(options),
        said("date", &["-u", "+%Y-%m-%d"]),
        machine()
    );
    let _ = writeln!(text, "Versions: gateway {}; {}.\n", env!("CARGO_PKG_VERSION"), versions().join("; "));
    let _ = writeln!(
        text,
        "What counts is the CPU time of the server's process (with its children) for one operation, and the ratio of two \
         servers in the same round: {} rounds, in each of them every server in turn for {} s after {} ms to warm up, then the \
         medians. {} Reads come on {} kept-alive connections, writes on {}, one request at a time on each, as fast as the answers \
         come; so latencies are those of a full server.\n",
        scale.rounds,
        scale.duration.as_secs_f64(),
        scale.warm_up.as_millis(),
        if pin::is_parted() {
            "Servers run on one processor and the load on another, so operations per second are those of one core."
        } else {
            "Servers and load share one processor."
        },
        scale.readers,
        scale.writers,
    );
    text.push_str(
        "The gateway is built as it is shipped (profile `dist`) with every plugin, on SQLite where nothing else is said. Other \
         than by default: this machine's address is exempt from limits per client, up to 8,192 connections and streams are \
         allowed, the operator's listener is off, and only warnings are logged (the peers log nothing). The peers are in \
         `tests/bench`.\n",
    );
    for absent in bench.absent() {
        let _ = writeln!(text, "\nNot measured on this machine: {absent}.");
    }
    text
}

fn arguments(options: &Options) -> String {
    let mut text = String::new();
    if options.rounds != 5 {
        let _ = write!(text, " --rounds {}", options.rounds);
    }
    if (options.seconds - 3.0).abs() > f64::EPSILON {
        let _ = write!(text, " --seconds {}", options.seconds);
    }
    if options.no_peers {
        text.push_str(" --no-peers");
    }
    text
}

fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let cores = thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let kernel = said("uname", &["-sr"]);
    format!("{cores} cores of {}, {kernel}", model.unwrap_or("an unnamed processor"))
}

fn versions() -> Vec<String> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/node_modules");
    let package = |name: &str| {
        let text = fs::read_to_string(peers.join(name).join("package.json")).ok()?;
        let value: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(format!("{name} {}", value["version"].as_str()?))
    };
    let mut versions = vec![said("rustc", &["--version"])];
    versions.push(format!("SQLite {}", rusqlite::version()));
    versions.push(format!("Node {}", said("node", &["--version"])));
    versions.extend(["fastify", "better-sqlite3", "ethers"].into_iter().filter_map(package));
    versions.retain(|version| !version.ends_with(' '));
    versions
}

/// What a program prints, or nothing where it is missing.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

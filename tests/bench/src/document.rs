//! BENCHMARKS.md: a section for each table, with a line below it that says what was measured, where, when and how.

use crate::{bench::Bench, options::Options, pin};
use anyhow::{Context as _, Result};
use std::{fmt::Write as _, fs, path::Path, process::Command, thread};

const SECTION: &str = "\n## ";
/// What `cargo xtask abuse` measures stays the last section.
const ABUSE: &str = "## What others feel of abuse";

/// Puts the sections into the file of the repository that this program was built from: in place of those with the same title,
/// the others at the end.
pub fn write(options: &Options, bench: &Bench, measured: &[String]) -> Result<()> {
    let file = repository()?.join("BENCHMARKS.md");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let stamp = stamp(options, bench);
    let measured: Vec<String> = measured.iter().map(|section| format!("{}\n\n{stamp}\n", section.trim_end())).collect();
    let sections = merged(&before, &measured);
    fs::write(&file, format!("{}\n{}", head(bench), sections.join("\n")))?;
    println!("written: {}", file.display());
    Ok(())
}

fn repository() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("tests/bench lies in the repository")
}

/// The sections of the file, with those that were measured in their places.
fn merged(file: &str, measured: &[String]) -> Vec<String> {
    let mut sections: Vec<String> =
        file.split(SECTION).skip(1).map(|section| format!("## {}\n", section.trim_end())).collect();
    let abuse = sections.iter().position(|section| section.starts_with(ABUSE)).map(|at| sections.remove(at));
    for section in measured {
        match sections.iter_mut().find(|known| title(known) == title(section)) {
            Some(known) => known.clone_from(section),
            None => sections.push(section.clone()),
        }
    }
    sections.extend(abuse);
    sections
}

fn title(section: &str) -> Option<&str> {
    section.lines().next()
}

/// A test reads the version: no section may be older than the last release.
fn stamp(options: &Options, bench: &Bench) -> String {
    let scale = bench.scale;
    format!(
        "*Gateway {} at {}, {}, {}, {} rounds of {} s{}.*",
        env!("CARGO_PKG_VERSION"),
        commit(),
        said("date", &["-u", "+%Y-%m-%d"]),
        machine(),
        scale.rounds,
        scale.duration.as_secs_f64(),
        if options.no_peers { ", without peers" } else { "" },
    )
}

/// The commit that was built, if the working tree had no changes but of this file.
fn commit() -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    let files = ["--porcelain", "--untracked-files=no", "--", ":/", ":!/BENCHMARKS.md"];
    let changed = said("git", &[&["-C", folder, "status"][..], &files].concat());
    let commit = said("git", &["-C", folder, "rev-parse", "--short=10", "HEAD"]);
    if changed.is_empty() { commit } else { format!("{commit} with changes") }
}

fn head(bench: &Bench) -> String {
    let scale = bench.scale;
    let mut text = "# Benchmarks\n\n".to_owned();
    let _ = writeln!(
        text,
        "Made by `cargo xtask bench`; the line below a table says of which commit, where and when. Compare within a table, not \
         across: machines differ.\n",
    );
    let _ = writeln!(text, "Versions: {}.\n", versions().join("; "));
    let _ = writeln!(
        text,
        "What counts is the CPU time of the server's process (with its children) for one operation, and the ratio of two \
         servers in the same round: in each round every server is measured in turn after {} ms to warm up, then the medians are \
         taken. {} Reads come on {} kept-alive connections, writes on {} if not said, one request at a time on each, as fast as \
         the answers come; so latencies are those of a full server.\n",
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
        "The gateway is built as it is shipped (profile `dist`), with every plugin that there was (those too that are off by default) and \
         the default log (the peers log nothing), on SQLite where nothing else is said. Other than by default: limits per client are so \
         high that they refuse nothing, up to 8,192 connections and streams are allowed, and the operator's listener is off. The peers \
         are in `tests/bench`.\n",
    );
    for absent in bench.absent() {
        let _ = writeln!(text, "\nNot measured on this machine: {absent}.");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_replaces_the_one_with_its_title() {
        let file =
            "# Benchmarks\n\nHead.\n\n## One\n\nold\n\n## Two\n\nstays\n\n## What others feel of abuse\n\nlast\n";
        let measured = ["## One\n\nnew\n".to_owned(), "## Three\n\nmore\n".to_owned()];
        let abuse = "## What others feel of abuse\n\nlast\n";
        assert_eq!(merged(file, &measured), ["## One\n\nnew\n", "## Two\n\nstays\n", "## Three\n\nmore\n", abuse]);
    }
}

//! Programs that chores start. Rule: what is missing is named together with the package that brings it.

use crate::Failure;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The cargo that runs this chore, without the variables that it set about the package xtask: build scripts that depend
/// on these (ring's) would run again, and their dependents be compiled again, whenever cargo is called without them.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_str().is_some_and(is_about_this_package)) {
        cargo.env_remove(name);
    }
    cargo
}

fn is_about_this_package(variable: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| variable.starts_with(prefix))
}

/// Runs it to its end, with its output on the terminal.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", line(command))) }
}

/// Runs it to its end and answers what it printed; shows its errors when it fails.
pub fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("`{}` ended with {}: {errors}", line(command), output.status))
}

/// Whether the program can be started and says so.
pub fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The program of that name in PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The program, or the Debian package that brings it.
pub fn need(name: &str, package: &str) -> Result<PathBuf, Failure> {
    find(name).ok_or_else(|| missing(name, package))
}

pub fn missing(what: &str, package: &str) -> Failure {
    format!("{what} is not installed: apt-get install {package}")
}

/// Whether this process is root, which PostgreSQL refuses to run as.
pub fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    uids.and_then(|uids| uids.split_whitespace().nth(1)) == Some("0")
}

/// The end of a process, whose folder in /proc is gone then.
pub fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    format!("`{}` could not be started: {error}", line(command))
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

//! `cargo xtask author-times [GATEWAY]`: how long authors of plugins wait for green tests, outside of the repository and in it.
//!
//! Rule: a cold measurement finds nothing but cargo's downloads. What is measured is the last commit, in a folder of its own.

use crate::{Failure, process, profile::Profile, repository};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// The most that an author should wait on two processors.
const COLD_S_MAX: u32 = 180;
const WARM_S_MAX: u32 = 15;

/// They would measure another build than an author's, or a second database.
const NOT_AN_AUTHORS: [&str; 6] =
    ["CARGO_TARGET_DIR", "CI", "CLIPPY_ARGS", "GATEWAY_TEST_POSTGRES", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS"];

/// The handler of a plugin, which an edit changes.
const HANDLER_OUTSIDE: &str = "src/routes/get_note.rs";
const HANDLER_INSIDE: &str = "plugins/hello/src/routes/get_greeting.rs";

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    let gateway = match arguments {
        [] => build(&root)?,
        [program] => fs::canonicalize(program).map_err(|error| format!("{program}: {error}"))?,
        _ => return Err("usage: cargo xtask author-times [GATEWAY]".to_owned()),
    };
    let place = Workplace::new(&root, gateway)?;
    let mut lines = place.outside()?;
    lines.extend(place.inside()?);
    let commit = process::output(Command::new("git").current_dir(&root).args(["rev-parse", "--short", "HEAD"]))?;
    let rustc = process::output(Command::new("rustc").arg("--version"))?;
    let processors = thread::available_parallelism().map_or(0, usize::from);
    println!("\ncommit {commit}, {processors} processors, {rustc}\n");
    lines.iter().for_each(Timing::print);
    Ok(())
}

/// As it is shipped, because authors outside test with a release.
fn build(root: &Path) -> Result<PathBuf, Failure> {
    let profile = Profile::or("dist");
    let mut build = process::cargo();
    build.current_dir(root).args(["build", "--package", "gateway-cli", "--profile", &profile.name]);
    process::run(&mut build)?;
    Ok(profile.folder(root).join("gateway"))
}

/// A folder with a clone of the repository; deleted at the end.
struct Workplace {
    folder: PathBuf,
    gateway: PathBuf,
}

impl Workplace {
    fn new(root: &Path, gateway: PathBuf) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("gateway-author-times-{}", std::process::id()));
        let place = Self { folder, gateway };
        process::run(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(place.repository()))?;
        Ok(place)
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("repository")
    }

    /// `docs/plugin-outside.md`: from nothing to a green test, then an edit.
    fn outside(&self) -> Result<Vec<Timing>, Failure> {
        let notes = self.folder.join("notes");
        let mut new = Command::new(&self.gateway);
        new.current_dir(&self.folder).args(["plugins", "new", "notes", "--plugin-api"]);
        new.arg(self.repository().join("plugin-api"));
        let mut test = author(process::cargo());
        test.current_dir(&notes).arg("test").env("GATEWAY_BIN", &self.gateway);
        let cold = Timing::cold("gateway plugins new NAME, cargo test", timed(&mut [&mut author(new), &mut test])?);
        edit(&notes.join(HANDLER_OUTSIDE))?;
        Ok(vec![cold, Timing::warm("cargo test after an edit", timed(&mut [&mut test])?)])
    }

    /// The plugin `hello` in the clone, likewise.
    fn inside(&self) -> Result<Vec<Timing>, Failure> {
        let mut test = author(process::cargo());
        test.current_dir(self.repository()).args(["xtask", "test", "hello"]);
        let cold = Timing::cold("cargo xtask test NAME", timed(&mut [&mut test])?);
        edit(&self.repository().join(HANDLER_INSIDE))?;
        Ok(vec![cold, Timing::warm("cargo xtask test NAME after an edit", timed(&mut [&mut test])?)])
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The command in the environment of an author.
fn author(mut command: Command) -> Command {
    for variable in NOT_AN_AUTHORS {
        command.env_remove(variable);
    }
    command
}

fn timed(commands: &mut [&mut Command]) -> Result<Duration, Failure> {
    let started = Instant::now();
    for command in commands {
        process::run(command)?;
    }
    Ok(started.elapsed())
}

/// Changes the summary of a route, which no test of the plugin reads.
fn edit(handler: &Path) -> Result<(), Failure> {
    let text = repository::read(handler)?;
    let edited = edited(&text).ok_or_else(|| format!("{}: no route with a summary", handler.display()))?;
    repository::write(handler, &edited)
}

fn edited(handler: &str) -> Option<String> {
    let (before, after) = handler.split_once(".summary(\"")?;
    Some(format!("{before}.summary(\"Edited: {after}"))
}

struct Timing {
    what: &'static str,
    took: Duration,
    seconds_max: u32,
}

impl Timing {
    fn cold(what: &'static str, took: Duration) -> Self {
        Self { what, took, seconds_max: COLD_S_MAX }
    }

    fn warm(what: &'static str, took: Duration) -> Self {
        Self { what, took, seconds_max: WARM_S_MAX }
    }

    fn print(&self) {
        let Self { what, took, seconds_max } = self;
        println!("{what:<38} {:>7.1} s (wanted on two processors: at most {seconds_max} s)", took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that an edit changes, as they are.
    #[test]
    fn both_plugins_can_be_edited() {
        let outside = plugin_template::files("notes", &plugin_template::PackageKind::Repository);
        let outside = outside.into_iter().find(|file| file.path == HANDLER_OUTSIDE).map(|file| file.text);
        let inside = repository::root().and_then(|root| repository::read(&root.join(HANDLER_INSIDE))).ok();
        for handler in [outside, inside] {
            let edited = handler.as_deref().and_then(edited);
            assert!(edited.is_some_and(|text| text.contains(".summary(\"Edited: ")), "{handler:?}");
        }
    }
}

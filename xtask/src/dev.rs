//! `cargo xtask dev`: the gateway as a developer starts it, with a chain. What it prints (addresses, plugins, a request to
//! try) is the gateway's own output.

use crate::{
    Failure,
    dev_chain::{self, DevChainOptions},
    process,
    profile::Profile,
    repository,
};
use std::{fs, io::ErrorKind, os::unix::process::CommandExt as _, path::Path, process::Command};

/// Flag and variable; a developer who gives one of them means it.
const LISTEN: (&str, &str) = ("--listen", "GATEWAY_HTTP__LISTEN");
const DATA_DIR: (&str, &str) = ("--data-dir", "GATEWAY_DATA_DIR");
const LISTEN_DEFAULT: &str = "127.0.0.1:8080";
const DATA_DIR_DEFAULT: &str = "./data";
/// With `--payin`: chains that begin anew are not those that were scanned before, so nothing is kept of them.
const PAYIN_DATA_DIR: &str = "./data/payin";

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (own, given) = split(arguments);
    if own.iter().any(|word| is_help(word)) {
        println!("{}", dev_chain::USAGE);
        return Ok(());
    }
    let wanted = DevChainOptions::read(own)?;
    let root = repository::root()?;
    // What the tests build, too: a third of the time of a release build, and nothing is compiled twice.
    let profile = Profile::or("dev");
    // The default members are the gateway and every plugin.
    process::run(process::cargo().current_dir(&root).args(["build", "--profile", &profile.name]))?;
    let program = profile.folder(&root).join("gateway");
    let mut gateway = Command::new(&program);
    let wanted = wanted.filter(|_| !given.iter().any(|word| is_help(word)));
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let data_dir = match &wanted {
        Some(wanted) if wanted.has_payin => PAYIN_DATA_DIR,
        _ => DATA_DIR_DEFAULT,
    };
    if data_dir == PAYIN_DATA_DIR && is_default(DATA_DIR, given, is_set) {
        empty(&root.join(data_dir))?;
    }
    if let Some(wanted) = wanted {
        gateway.envs(wanted.start(&root).into_iter().filter(|(name, _)| !is_set(name)));
    }
    gateway.current_dir(&root).arg("run").args(defaults(given, data_dir, is_set)).args(given);
    // In place of this process, so that Ctrl-C and exit code are the gateway's.
    let error = gateway.exec();
    Err(format!("{} could not be started: {error}", program.display()))
}

fn is_help(word: &str) -> bool {
    ["-h", "--help"].contains(&word)
}

/// What is for this chore, and what follows `--` for the gateway.
fn split(arguments: &[String]) -> (&[String], &[String]) {
    match arguments.iter().position(|word| word == "--") {
        Some(place) => (&arguments[..place], &arguments[place + 1..]),
        None => (arguments, &[]),
    }
}

fn is_default((flag, variable): (&str, &str), given: &[String], is_set: impl Fn(&str) -> bool) -> bool {
    let is_given = given.iter().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
    !is_given && !is_set(variable)
}

fn defaults(given: &[String], data_dir: &str, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let all = [(LISTEN, LISTEN_DEFAULT), (DATA_DIR, data_dir)];
    let needed = all.into_iter().filter(|(key, _)| is_default(*key, given, &is_set));
    needed.flat_map(|((flag, _), value)| [flag.to_owned(), value.to_owned()]).collect()
}

fn empty(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{} is not removed: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn a_developer_who_says_nothing_gets_both_defaults() {
        assert_eq!(defaults(&[], DATA_DIR_DEFAULT, |_| false), words("--listen 127.0.0.1:8080 --data-dir ./data"));
    }

    #[test]
    fn flags_and_variables_replace_defaults() {
        let of = |line: &str, set: &str| defaults(&words(line), DATA_DIR_DEFAULT, |name| name == set);
        assert_eq!(of("--listen 127.0.0.1:0", ""), words("--data-dir ./data"));
        assert_eq!(of("--data-dir=/tmp/x", ""), words("--listen 127.0.0.1:8080"));
        assert_eq!(of("", "GATEWAY_DATA_DIR"), words("--listen 127.0.0.1:8080"));
    }
}

//! `cargo xtask dev`: the gateway as a developer starts it, with a chain. What it prints (addresses, plugins, a request to
//! try) is the gateway's own output.

use crate::{
    Failure,
    dev_chain::{self, Wanted},
    process,
    profile::Profile,
    repository,
};
use std::{os::unix::process::CommandExt as _, process::Command};

/// Flag, variable and value; a developer who gives one of the first two means it.
const DEFAULTS: [(&str, &str, &str); 2] =
    [("--listen", "GATEWAY_HTTP__LISTEN", "127.0.0.1:8080"), ("--data-dir", "GATEWAY_DATA_DIR", "./data")];

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (own, given) = split(arguments);
    if own.iter().any(|word| is_help(word)) {
        println!("{}", dev_chain::USAGE);
        return Ok(());
    }
    let wanted = Wanted::read(own)?;
    let root = repository::root()?;
    // What the tests build, too: a third of the time of a release build, and nothing is compiled twice.
    let profile = Profile::or("dev");
    // The default members are the gateway and every plugin.
    process::run(process::cargo().current_dir(&root).args(["build", "--profile", &profile.name]))?;
    let program = profile.folder(&root).join("gateway");
    let mut gateway = Command::new(&program);
    if let Some(wanted) = wanted.filter(|_| !given.iter().any(|word| is_help(word))) {
        gateway.envs(wanted.start(&root).into_iter().filter(|(name, _)| std::env::var_os(name).is_none()));
    }
    gateway.current_dir(&root).arg("run").args(defaults(given, |name| std::env::var_os(name).is_some())).args(given);
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

fn defaults(given: &[String], is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let is_given = |flag: &str| given.iter().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
    let needed = DEFAULTS.iter().filter(|(flag, variable, _)| !is_given(flag) && !is_set(variable));
    needed.flat_map(|(flag, _, value)| [(*flag).to_owned(), (*value).to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn a_developer_who_says_nothing_gets_both_defaults() {
        assert_eq!(defaults(&[], |_| false), words("--listen 127.0.0.1:8080 --data-dir ./data"));
    }

    #[test]
    fn flags_and_variables_replace_defaults() {
        assert_eq!(defaults(&words("--listen 127.0.0.1:0"), |_| false), words("--data-dir ./data"));
        assert_eq!(defaults(&words("--data-dir=/tmp/x"), |_| false), words("--listen 127.0.0.1:8080"));
        assert_eq!(defaults(&[], |name| name == "GATEWAY_DATA_DIR"), words("--listen 127.0.0.1:8080"));
    }
}

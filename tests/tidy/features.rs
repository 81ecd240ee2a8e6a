//! `cargo build`, `cargo run` and the tests compile each dependency once.

use super::repository;
use std::{collections::BTreeSet, process::Command};

/// Every dependency with its features, as cargo resolves them for these packages.
fn resolved(selection: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository::root()).args(["tree", "--locked", "--prefix", "none", "--format", "{p} [{f}]"]);
    let output = cargo.args(selection).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn the_gateway_alone_takes_the_features_that_the_tests_take() {
    let alone = resolved(&["--edges", "normal,build"]);
    // What `cargo xtask test PLUGIN` builds.
    let plugin = resolved(&["--package", "forum", "--package", "gateway-cli", "--edges", "normal,build,dev"]);
    let with_tests = resolved(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(alone.len() > 300, "{} dependencies", alone.len());
    let compiled_twice: Vec<&String> =
        alone.union(&plugin).filter(|dependency| !with_tests.contains(*dependency)).collect();
    assert!(
        compiled_twice.is_empty(),
        "tests ask for more features of these, so cargo compiles them and all above them twice: name those features in \
         host/cli/Cargo.toml, under \"one set of features\"\n{compiled_twice:#?}"
    );
}

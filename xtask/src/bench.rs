//! `cargo xtask bench`: builds the gateway as it is shipped, the peers, and the program of tests/bench that measures both.

use crate::{Failure, clients, process, repository};
use std::{path::Path, process::Command};

/// Names another profile than `release`; the tests take `dev`, which is built anyway.
const PROFILE: &str = "XTASK_PROFILE";

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    let cargo = |arguments: &[&str]| process::run(process::cargo().current_dir(&root).args(arguments));
    let built = if std::env::var(PROFILE).is_ok_and(|profile| profile == "dev") {
        cargo(&["build", "--workspace", "--all-targets"])?;
        root.join("target/debug")
    } else {
        // Apart, because what the peers need must not change the gateway's own build.
        cargo(&["build", "--release"])?;
        cargo(&["build", "--release", "--package", "bench"])?;
        root.join("target/release")
    };
    if !arguments.iter().any(|argument| ["--no-peers", "--smoke", "--help"].contains(&argument.as_str())) {
        install_peers(&root);
    }
    process::run(Command::new(built.join("bench")).arg("--gateway").arg(built.join("gateway")).args(arguments))
}

/// Without them the rest is measured, and the report says what is missing.
fn install_peers(root: &Path) {
    if let Err(failure) = clients::install_node(&root.join("tests/bench/peers")) {
        println!("   without the peers on Node: {failure}");
    }
}

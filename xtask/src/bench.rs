//! `cargo xtask bench`: builds the gateway as it is shipped, the peers, and the program of tests/bench that measures both.

use crate::{Failure, clients, process, profile::Profile, repository};
use std::{path::Path, process::Command};

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    let cargo = |arguments: &[&str]| process::run(process::cargo().current_dir(&root).args(arguments));
    let profile = Profile::or("release");
    if profile.name == "dev" {
        cargo(&["build", "--workspace", "--all-targets"])?;
    } else {
        // Apart, because what the peers need must not change the gateway's own build.
        cargo(&["build", "--profile", &profile.name])?;
        cargo(&["build", "--profile", &profile.name, "--package", "bench"])?;
    }
    let built = profile.folder(&root);
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

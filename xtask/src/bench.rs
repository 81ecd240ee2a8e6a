//! `cargo xtask bench`: builds the gateway as it is shipped, the peers, and the program of tests/bench that measures both.

use crate::{Failure, clients, devnet, process, profile::Profile, repository};
use std::{path::Path, process::Command};

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    let profile = Profile::or("dist");
    // The default members, which are the gateway and every plugin; then what measures them. In the profile of the tests everything is
    // built already, with features that bench alone does not have.
    let shipped = [&[][..], &["--package", "bench"]];
    let tested = [&["--workspace", "--all-targets"][..]];
    for packages in if profile.name == "dev" { &tested[..] } else { &shipped } {
        let mut build = process::cargo();
        build.current_dir(&root).args(["build", "--profile", &profile.name]).args(*packages);
        process::run(&mut build)?;
    }
    let built = profile.folder(&root);
    if !arguments.iter().any(|argument| argument == "--help")
        && let Err(failure) = devnet::install(&root)
    {
        println!("   without a chain: {failure}");
    }
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

//! `cargo xtask simulate`: builds the simulation and plays it. Its options are its own; tests/simulate/README.md says what it does.

use crate::{Failure, process, profile::Profile, repository};
use std::process::Command;

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    // What is waited for is not the computing: the gateway's checks of its own find more than speed does.
    let profile = Profile::or("dev");
    let mut build = process::cargo();
    // Beside the gateway it takes the features that everything else is built with.
    build.current_dir(&root).args(["build", "--profile", &profile.name]);
    build.args(["--package", "gateway-cli", "--package", "gateway-simulate", "--bin", "simulate"]);
    build.args(["--features", "gateway-simulate/simulation"]);
    process::run(&mut build)?;
    process::run(Command::new(profile.folder(&root).join("simulate")).current_dir(&root).args(arguments))
}

//! `cargo xtask devnet`: a chain with every contract, in the foreground. What it is made of is in tests/devnet.

use crate::{Failure, clients, process, repository};
use std::{
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    install(&root)?;
    let mut node = node(&root)?;
    // In place of this process, so that Ctrl-C and exit code are the dev network's.
    let error = node.arg(folder(&root).join("devnet.mjs")).args(arguments).exec();
    Err(format!("node could not be started: {error}"))
}

/// Its own tests, as node finds them below the folder. The limit is for one that hangs.
pub fn test(root: &Path) -> Result<(), Failure> {
    let mut node = node(root)?;
    process::run(node.current_dir(folder(root)).args(["--test", "--test-reporter=spec", "--test-timeout=120000"]))
}

/// anvil, the compiler, what contracts import.
pub fn install(root: &Path) -> Result<(), Failure> {
    clients::install_node(&folder(root))
}

pub fn folder(root: &Path) -> PathBuf {
    root.join("tests/devnet")
}

pub fn node(root: &Path) -> Result<Command, Failure> {
    let mut node = Command::new(process::need("node", "nodejs")?);
    node.current_dir(root);
    Ok(node)
}

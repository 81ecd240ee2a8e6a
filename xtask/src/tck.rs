//! The compatibility kit of A2A: two checkouts and one Python environment in target/tck. It is on no registry of packages, so it comes by git.

use crate::{Failure, process, repository};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

const SOURCE: &str = "https://github.com/a2aproject/a2a-tck";
/// Another place to take it from: the path or URL of a clone.
pub const SOURCE_VARIABLE: &str = "A2A_TCK";
/// By the version of A2A, the commit.
const VERSIONS: [(&str, &str); 2] =
    [("0.3", "eb1f804c27ea25db8805264d9ed2d7ca077a7776"), ("1.0", "357c4a87afa2818731590647cccbea31c31733a2")];

/// The folder with both versions and their environment.
pub fn install(root: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join("target/tck");
    let source = std::env::var(SOURCE_VARIABLE).unwrap_or_else(|_| SOURCE.to_owned());
    for (version, commit) in VERSIONS {
        let checkout = folder.join(version);
        let stamp = folder.join(format!("{version}.commit"));
        if repository::read(&stamp).is_ok_and(|installed| installed == commit) {
            continue;
        }
        println!("   git clone {source}, {version}");
        // What an earlier run left half done.
        let _ = std::fs::remove_dir_all(&checkout);
        let mut clone = Command::new("git");
        clone.env("GIT_TERMINAL_PROMPT", "0").args(["clone", "--quiet", "--no-checkout", &source]).arg(&checkout);
        process::run(&mut clone)?;
        process::run(Command::new("git").current_dir(&checkout).args(["checkout", "--quiet", commit]))?;
        repository::write(&stamp, commit)?;
    }
    install_environment(&folder)?;
    Ok(folder)
}

fn install_environment(folder: &Path) -> Result<(), Failure> {
    let venv = folder.join("venv");
    let wanted: String = VERSIONS.iter().map(|(version, commit)| format!("{version} {commit}\n")).collect();
    let stamp = venv.join("installed-kits.txt");
    if repository::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let python = process::need("python3", "python3")?;
    println!("   pip install in {}", venv.display());
    process::run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&venv))?;
    for (version, _) in VERSIONS {
        let mut pip = Command::new(venv.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable"]);
        process::run(pip.arg(folder.join(version)))?;
    }
    repository::write(&stamp, &wanted)
}

//! Node packages and a Python environment, from their lock files: what tests sign and read with, and peers to measure.

use crate::{Failure, process, repository};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Headers of the Node that Debian installs, for packages that are compiled.
const NODE_HEADERS: &str = "/usr/include/node/node.h";

/// `npm ci` in the folder and each one in it that has a lock file, unless that very lock file is installed already.
pub fn install_node(folder: &Path) -> Result<(), Failure> {
    for folder in locked_folders(folder)? {
        let lock = repository::read(&folder.join("package-lock.json"))?;
        let stamp = folder.join("node_modules/.installed-lock.json");
        if is_installed(&stamp, &lock) {
            continue;
        }
        let npm = process::need("npm", "npm")?;
        println!("   npm ci in {}", folder.display());
        let mut npm = Command::new(npm);
        if Path::new(NODE_HEADERS).is_file() {
            // Otherwise npm would load them from the network.
            npm.env("npm_config_nodedir", "/usr");
        }
        process::run(npm.current_dir(&folder).args(["ci", "--no-audit", "--no-fund"]))?;
        repository::write(&stamp, &lock)?;
    }
    Ok(())
}

/// A virtual environment in target/venv with tests/clients/requirements.txt, and with requirements-alone.txt without what these
/// packages depend on: the tests read single files of them, or (aics-tlog) need nothing else. That one asks for Python 3.12 and works
/// with 3.11, which Debian 12 has.
pub fn install_python(root: &Path) -> Result<(), Failure> {
    let requirements = root.join("tests/clients/requirements.txt");
    let alone = root.join("tests/clients/requirements-alone.txt");
    let wanted = repository::read(&requirements)? + &repository::read(&alone)?;
    let venv = root.join("target/venv");
    let stamp = venv.join("installed-requirements.txt");
    if is_installed(&stamp, &wanted) {
        return Ok(());
    }
    let python = process::need("python3", "python3")?;
    if !process::works(Command::new(&python).args(["-c", "import ensurepip, venv"])) {
        return Err(process::missing("Python's venv module", "python3-venv"));
    }
    println!("   pip install in {}", venv.display());
    process::run(Command::new(&python).args(["-m", "venv", "--clear"]).arg(&venv))?;
    for (flags, file) in
        [(["-r"].as_slice(), &requirements), (["--no-deps", "--ignore-requires-python", "-r"].as_slice(), &alone)]
    {
        let mut pip = Command::new(venv.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(flags).arg(file);
        process::run(&mut pip)?;
    }
    repository::write(&stamp, &wanted)
}

/// The folder itself and those directly in it, where they have a lock file.
fn locked_folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    folders.push(folder.to_path_buf());
    folders.retain(|folder| folder.join("package-lock.json").is_file());
    folders.sort();
    Ok(folders)
}

/// Compared by content: times of files say nothing in a fresh clone.
fn is_installed(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|installed| installed == wanted)
}

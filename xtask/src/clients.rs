//! The real clients that tests sign and read with: Node packages and a Python environment, from their lock files.

use crate::{Failure, process, repository};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// `npm ci` in each folder of tests/clients with a lock file, unless that very lock file is installed already.
pub fn install_node(root: &Path) -> Result<(), Failure> {
    locked_folders(&root.join("tests/clients"))?.iter().try_for_each(|folder| install_packages(folder))
}

/// Where the dev network is.
pub fn devnet(root: &Path) -> PathBuf {
    root.join("tests/devnet")
}

/// The same for the dev network: anvil, the compiler, what contracts import.
pub fn install_devnet(root: &Path) -> Result<(), Failure> {
    install_packages(&devnet(root))
}

fn install_packages(folder: &Path) -> Result<(), Failure> {
    let lock = repository::read(&folder.join("package-lock.json"))?;
    let stamp = folder.join("node_modules/.installed-lock.json");
    if is_installed(&stamp, &lock) {
        return Ok(());
    }
    let npm = process::need("npm", "npm")?;
    println!("   npm ci in {}", folder.display());
    process::run(Command::new(npm).current_dir(folder).args(["ci", "--no-audit", "--no-fund"]))?;
    repository::write(&stamp, &lock)
}

/// A virtual environment in target/venv with tests/clients/requirements.txt.
pub fn install_python(root: &Path) -> Result<(), Failure> {
    let requirements = root.join("tests/clients/requirements.txt");
    let wanted = repository::read(&requirements)?;
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
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&requirements);
    process::run(&mut pip)?;
    repository::write(&stamp, &wanted)
}

/// The folder itself and those directly in it, where they have a lock file.
fn locked_folders(clients: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(clients).map_err(|error| format!("{}: {error}", clients.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    folders.push(clients.to_path_buf());
    folders.retain(|folder| folder.join("package-lock.json").is_file());
    folders.sort();
    Ok(folders)
}

/// Compared by content: times of files say nothing in a fresh clone.
fn is_installed(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|installed| installed == wanted)
}

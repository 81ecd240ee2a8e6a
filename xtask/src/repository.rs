//! Where the repository is and what its files say about it.

use crate::Failure;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The workspace around the current folder. (Not the folder this was built in: a copied workspace must find itself.)
pub fn root() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(|error| format!("the current folder cannot be read: {error}"))?;
    let root = here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
    root.map(Path::to_path_buf).ok_or_else(|| "run this inside the repository".to_owned())
}

/// Names of the plugins, sorted: the folders below plugins/ that are packages.
pub fn plugins(root: &Path) -> Result<Vec<String>, Failure> {
    let folder = root.join("plugins");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// The files below a folder, relative to it, sorted.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(explain)? {
        let (name, path) = entry.map(|entry| (PathBuf::from(entry.file_name()), entry.path())).map_err(explain)?;
        if path.is_dir() {
            files.extend(files_below(&path)?.into_iter().map(|file| name.join(file)));
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

pub fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let explain = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(explain)?;
    }
    fs::write(path, text).map_err(explain)
}

pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

//! The packages for authors of plugins as a registry hands them out: what `cargo package` makes, unpacked.
//!
//! The rule: while nothing in a package changes, its files keep their times, so that what was compiled of them is compiled once.

use crate::plugins::target_dir;
use anyhow::{Context as _, ensure};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Each package, and where it lies in the repository and here. The outer one comes first.
const PACKAGES: [(&str, &str); 4] = [
    ("plugin-api", "plugin-api"),
    ("plugin-api-macros", "plugin-api/macros"),
    ("request-signing", "plugin-api/signing"),
    ("plugin-test-kit", "plugin-api/test-kit"),
];

/// What authors have in place of a copy of the repository: the folder `plugin-api`, with the other packages below it.
pub fn unpacked() -> anyhow::Result<PathBuf> {
    let folder = target_dir()?.join("packages");
    fs::create_dir_all(&folder)?;
    let work = tempfile::tempdir_in(&folder)?;
    let (fresh, kept) = (work.path().join("fresh"), folder.join("gateway"));
    let files = package(work.path())?;
    for (name, place) in PACKAGES {
        unpack(find(&files, name)?, &fresh.join(place)).with_context(|| format!("unpacks {name}"))?;
    }
    if contents(&fresh)? != contents(&kept)? {
        if kept.exists() {
            fs::remove_dir_all(&kept)?;
        }
        fs::rename(&fresh, &kept)?;
    }
    Ok(kept.canonicalize()?)
}

/// The lines of a configuration of cargo with which packages find each other there, and not in the registry.
pub fn patch(unpacked: &Path) -> String {
    let lines = PACKAGES.map(|(name, place)| format!("{name} = {{ path = \"{}\" }}\n", unpacked.join(place).display()));
    format!("[patch.crates-io]\n{}", lines.concat())
}

/// Makes all of them, without compiling: that is for who unpacks them.
fn package(target: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tests lie in the repository")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(repository)
        .args(["package", "--quiet", "--offline", "--locked", "--allow-dirty", "--no-verify", "--target-dir"])
        .arg(target)
        .args(PACKAGES.iter().flat_map(|(name, _)| ["--package", name]))
        .output()?;
    ensure!(output.status.success(), "cargo package: {}", String::from_utf8_lossy(&output.stderr));
    let entries = fs::read_dir(target.join("package"))?;
    Ok(entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}

/// The file `NAME-VERSION.crate`.
fn find<'f>(files: &'f [PathBuf], package: &str) -> anyhow::Result<&'f Path> {
    let is_meant = |file: &&PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".crate"));
        version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    };
    let found = files.iter().find(is_meant).map(PathBuf::as_path);
    found.with_context(|| format!("cargo package made no {package}, but {files:?}"))
}

/// Its files are as old as this moment: those of a package say 2006, and cargo would see no change in them.
fn unpack(file: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--gzip", "--touch", "--strip-components=1", "--file"]).arg(file).arg("--directory");
    let output = tar.arg(folder).output()?;
    ensure!(output.status.success(), "tar: {}", String::from_utf8_lossy(&output.stderr));
    // It names the commit: each one would be a change.
    let _ = fs::remove_file(folder.join(".cargo_vcs_info.json"));
    Ok(())
}

/// The files below a folder, by their path in it.
fn contents(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![PathBuf::new()]);
    if !folder.is_dir() {
        return Ok(found);
    }
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inside))? {
            let entry = entry?;
            let path = inside.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.insert(path, fs::read(entry.path())?);
            }
        }
    }
    Ok(found)
}

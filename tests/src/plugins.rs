//! Where the plugins are that this build made.

use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// The folder with `libhello.so` and the other plugins: `target/<profile>/deps`, where cargo puts what the tests depend on.
/// (`target/<profile>` itself may hold older ones.)
pub fn plugin_dir() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("the path of the test program")?;
    let folder = program.parent().context("the test program lies in a folder")?;
    Ok(if folder.ends_with("deps") { folder.to_owned() } else { folder.join("deps") })
}

/// The file of one plugin.
pub fn plugin_file(name: &str) -> anyhow::Result<PathBuf> {
    let file = plugin_dir()?.join(format!("lib{name}{}", std::env::consts::DLL_SUFFIX));
    anyhow::ensure!(file.is_file(), "{} is missing: make {name} a dev-dependency of the tests", file.display());
    Ok(file)
}

/// cargo's `target` folder.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let deps = plugin_dir()?;
    let target = deps.parent().and_then(Path::parent).context("target/<profile>/deps has two folders above it")?;
    Ok(target.to_owned())
}

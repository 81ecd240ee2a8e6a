//! `cargo xtask dist [DIR]`: a folder that runs on another machine of the same kind, and a package for Debian where `dpkg-deb` is.

use crate::{Failure, deb, process, profile::Profile, repository};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
/// Unit, samples of web servers, image, alerts and dashboard: with the folder that holds them, below `config/`.
const PACKAGING: &str = "config/packaging";
/// Plugins that nobody runs: the tutorial.
const LEFT_OUT: [&str; 1] = ["hello"];
const PLUGINS_DIR_SHOWN: &str = "# dir = \"./plugins\"";
const PLUGINS_DIR_SET: &str = "dir = \"./plugins\"";

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    let parent = match arguments {
        [] => root.join("dist"),
        [folder] => PathBuf::from(folder),
        _ => return Err("usage: cargo xtask dist [DIR]".to_owned()),
    };
    let profile = Profile::or("dist");
    build(&root, &profile)?;
    let name = format!("gateway-{}-{}", repository::VERSION, triple()?);
    let folder = parent.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let files = fill(&root, &profile.folder(&root), &folder)?;
    write_checksums(&folder, &files)?;
    try_out(&folder)?;
    println!("{} is complete:\n", folder.display());
    files.iter().for_each(|file| println!("  {}", file.display()));
    match deb::build(&folder, &parent, &profile)? {
        Some(package) => println!("\nFor Debian: {}", package.display()),
        None => println!("\nNo package for Debian: dpkg-deb is not installed"),
    }
    println!("\nOn the other machine: cd {name} && sha256sum --check SHA256SUMS && ./gateway run");
    Ok(())
}

/// Builds everything, then the gateway again with the hashes of the plugins: it grants these what they ask for, and no others.
fn build(root: &Path, profile: &Profile) -> Result<(), Failure> {
    let cargo = || {
        let mut cargo = process::cargo();
        cargo.current_dir(root).args(["build", "--locked", "--profile", &profile.name]);
        cargo
    };
    process::run(&mut cargo())?;
    let libraries = repository::plugins(root)?.into_iter().map(|plugin| format!("lib{plugin}.so"));
    let sums = process::output(Command::new("sha256sum").current_dir(profile.folder(root)).args(libraries))?;
    process::run(cargo().env("GATEWAY_RELEASED_PLUGINS", hashes_of(&sums)))
}

/// The first column of what `sha256sum` prints.
fn hashes_of(sums: &str) -> String {
    let hashes: Vec<&str> = sums.lines().filter_map(|line| line.split_whitespace().next()).collect();
    hashes.join(" ")
}

/// Copies what belongs into it; answers the files, relative to the folder.
fn fill(root: &Path, built: &Path, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![PathBuf::from("gateway")];
    make(&folder.join("plugins"))?;
    make(&folder.join("config"))?;
    repository::copy(&built.join("gateway"), &folder.join("gateway"))?;
    for plugin in repository::plugins(root)?.iter().filter(|plugin| !LEFT_OUT.contains(&plugin.as_str())) {
        let library = format!("lib{plugin}.so");
        let file = Path::new("plugins").join(&library);
        repository::copy(&built.join(&library), &folder.join(&file))?;
        files.push(file);
    }
    let config = PathBuf::from("config/gateway.toml");
    repository::write(&folder.join(&config), &config_for_dist(&repository::read(&root.join(&config))?)?)?;
    files.push(config);
    for file in repository::files_below(&root.join(PACKAGING))? {
        let file = Path::new(PACKAGING).join(file);
        make(folder.join(&file).parent().unwrap_or(folder))?;
        repository::copy(&root.join(&file), &folder.join(&file))?;
        files.push(file);
    }
    for document in DOCUMENTS {
        repository::copy(&root.join(document), &folder.join(document))?;
        files.push(document.into());
    }
    Ok(files)
}

/// The documented configuration, with the plugins in the folder beside the binary.
fn config_for_dist(config: &str) -> Result<String, Failure> {
    if !config.lines().any(|line| line == PLUGINS_DIR_SHOWN) {
        return Err(format!("config/gateway.toml has no line {PLUGINS_DIR_SHOWN:?} to set"));
    }
    let set = |line| if line == PLUGINS_DIR_SHOWN { PLUGINS_DIR_SET } else { line };
    Ok(config.lines().map(set).collect::<Vec<_>>().join("\n") + "\n")
}

fn write_checksums(folder: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let sums = process::output(Command::new("sha256sum").current_dir(folder).args(files))?;
    repository::write(&folder.join("SHA256SUMS"), &(sums + "\n"))
}

/// The copy starts, and is what it is called.
fn try_out(folder: &Path) -> Result<(), Failure> {
    let said = process::output(Command::new(folder.join("gateway")).current_dir(folder).arg("version"))?;
    if said.contains(repository::VERSION) {
        return Ok(());
    }
    Err(format!("`gateway version` in {} does not say {}: {said:?}", folder.display(), repository::VERSION))
}

fn triple() -> Result<String, Failure> {
    let said = process::output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(ToOwned::to_owned).ok_or_else(|| "`rustc -vV` names no host".to_owned())
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_the_first_column() {
        assert_eq!(hashes_of("aa  liba.so\nbb  libb.so\n"), "aa bb");
    }

    #[test]
    fn the_documented_configuration_can_be_set_for_dist() {
        let config = config_for_dist(include_str!("../../config/gateway.toml")).unwrap_or_default();
        assert_eq!(config.lines().filter(|line| *line == PLUGINS_DIR_SET).count(), 1);
        assert!(config_for_dist("[plugins]\n").is_err());
    }
}

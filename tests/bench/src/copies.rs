//! More plugins: the tutorial plugin under other names, in a workspace below `target/bench`, built like the original.

use anyhow::{Context as _, Result, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The libraries of `count` copies, optimised like the plugins they join.
pub fn make(count: usize) -> Result<Vec<PathBuf>> {
    let gateway =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("tests/bench lies in the gateway")?;
    let target = gateway.join("target/bench");
    let folder = target.join("copies");
    let names: Vec<String> = (1..=count).map(|number| format!("copy_{number:02}")).collect();
    for name in &names {
        copy(&gateway.join("plugins/hello"), &folder.join(name), name)?;
    }
    write(&folder.join("Cargo.toml"), &manifest(gateway, &names)?)?;
    write(&folder.join("Cargo.lock"), &fs::read_to_string(gateway.join("Cargo.lock"))?)?;
    println!("  {count} copies of a plugin are built");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--offline", "--profile", "dist"]);
    build.env("CARGO_TARGET_DIR", &target).current_dir(&folder);
    ensure!(build.status()?.success(), "the copies in {} do not build", folder.display());
    let library = |name: &String| target.join(format!("dist/lib{name}{}", env::consts::DLL_SUFFIX));
    Ok(names.iter().map(library).collect())
}

/// The gateway's manifest with other members: what packages inherit, and the profiles.
fn manifest(gateway: &Path, names: &[String]) -> Result<String> {
    let text = fs::read_to_string(gateway.join("Cargo.toml"))?;
    let inherited = text.find("[workspace.package]").context("the gateway's manifest has [workspace.package]")?;
    let inherited = text[inherited..].replace("path = \"", &format!("path = \"{}/", gateway.display()));
    Ok(format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n\n{inherited}"))
}

/// One package, without its tests, whose name, routes, tables and operations are its own.
fn copy(from: &Path, to: &Path, name: &str) -> Result<()> {
    let rename = |text: &str| {
        let operations = ["get_greeting", "list_guests", "create_guest", "prune_guests"];
        let text = text.replace("hello", name).replace(".off_by_default()", "");
        operations.iter().fold(text, |text, operation| text.replace(operation, &format!("{operation}_{name}")))
    };
    let mut files = vec![PathBuf::from("Cargo.toml")];
    let mut folders = vec![PathBuf::from("migrations"), PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(from.join(&folder))? {
            let entry = entry?;
            let inside = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() { folders.push(inside) } else { files.push(inside) }
        }
    }
    for file in files {
        let text = rename(&fs::read_to_string(from.join(&file))?);
        let text = if file == Path::new("Cargo.toml") { without_tests(&text)? } else { text };
        write(&to.join(rename(&file.display().to_string())), &text)?;
    }
    Ok(())
}

/// What tests need is of no use here, and is not in this workspace.
fn without_tests(manifest: &str) -> Result<String> {
    let (before, rest) = manifest.split_once("[dev-dependencies]").context("the plugin has dev-dependencies")?;
    let (_, lints) = rest.split_once("[lints]").context("the plugin has lints")?;
    Ok(format!("{before}[lints]{lints}"))
}

/// An unchanged file keeps its time, so that cargo does not build again.
fn write(file: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(file).is_ok_and(|present| present == text) {
        return Ok(());
    }
    fs::create_dir_all(file.parent().context("a file lies in a folder")?)?;
    fs::write(file, text).with_context(|| file.display().to_string())
}

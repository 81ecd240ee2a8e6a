//! `cargo xtask new-plugin` as an author runs it, in a workspace like this one: what it writes compiles without a warning.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// With an underscore, because types are named differently then.
const NAME: &str = "price_feed";

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A workspace with a plugin folder of its own; everything else is linked from the repository.
fn workspace(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("plugins")).unwrap();
    fs::create_dir_all(folder.join("tests")).unwrap();
    for file in ["Cargo.lock", "CHANGELOG.md", ".rustfmt.toml", "tests/Cargo.toml"] {
        fs::copy(repository().join(file), folder.join(file)).unwrap();
    }
    for linked in ["host", "plugin-api", "xtask", "plugins/hello"] {
        symlink(repository().join(linked), folder.join(linked)).unwrap();
    }
    // Without `tests` and its packages, which depend on every plugin.
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let members = "\"plugins/*\", \"tests\", \"tests/bench\", \"tests/hostile\", \"tests/keeper\", \"xtask\"]";
    assert!(manifest.contains(members), "Cargo.toml lists its members in another way: adapt this test");
    fs::write(folder.join("Cargo.toml"), manifest.replace(members, "\"plugins/*\", \"xtask\"]")).unwrap();
    folder
}

fn xtask(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).current_dir(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_new_plugin_compiles_without_a_warning() {
    let folder = workspace("new-plugin");
    let made = xtask(&folder, &["new-plugin", NAME]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stdout).contains("cargo xtask test price_feed"), "{}", text(&made.stdout));

    let tests = fs::read_to_string(folder.join("tests/Cargo.toml")).unwrap();
    assert!(tests.contains("\nprice_feed = { path = \"../plugins/price_feed\" }\n"), "{tests}");
    // Shared with the fixtures of the plugin ABI, which compile the same crates.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("fixtures");
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(&folder)
        .args(["build", "--quiet", "--locked", "--offline", "--package", NAME])
        .env("CARGO_TARGET_DIR", &target)
        // Of `cargo xtask test`: the fixtures are built without it.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .unwrap();
    // --quiet still prints warnings.
    assert!(built.status.success() && built.stderr.is_empty(), "{}", text(&built.stderr));
    assert!(target.join("debug/libprice_feed.so").is_file());
}

#[test]
fn nothing_is_overwritten() {
    let folder = workspace("taken-name");
    // A folder of the test's own: what is linked from the repository would be overwritten there.
    fs::create_dir(folder.join("plugins/taken")).unwrap();
    let refused = xtask(&folder, &["new-plugin", "taken"]);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("plugins/taken exists already"), "{}", text(&refused.stderr));
    assert_eq!(fs::read_dir(folder.join("plugins/taken")).unwrap().count(), 0);
}

#[test]
fn a_name_that_is_none_writes_nothing() {
    let folder = workspace("no-name");
    for name in ["My-Plugin", "..", "a/b", ""] {
        let refused = xtask(&folder, &["new-plugin", name]);
        assert!(!refused.status.success() && text(&refused.stderr).contains("is no plugin name"), "{name:?}");
    }
    assert_eq!(fs::read_dir(folder.join("plugins")).unwrap().count(), 1);
}

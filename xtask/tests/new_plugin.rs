//! `cargo xtask new-plugin` as an author runs it, in a workspace like this one. That the plugin works is tested by `e2e::chores::ten_minutes`.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
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
    let members = "\"plugins/*\", \"plugins/payin/xpub\", \"plugins/supply/market\", \"tests\", \"tests/bench\", \"tests/hostile\", \"tests/keeper\", \"tests/simulate\", \"xtask\"]";
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

/// The contents of the files of the workspace that are no links.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(contents(&entry.path()));
        } else if kind.is_file() {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn the_tutorial_says_what_is_written() {
    let folder = workspace("written");
    let before = contents(&folder);
    let made = xtask(&folder, &["new-plugin", NAME]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stdout).contains("cargo xtask test price_feed"), "{}", text(&made.stdout));
    let after = contents(&folder);
    let changed = after.iter().filter(|(path, content)| before.get(*path) != Some(*content));
    let plugin = Path::new("plugins").join(NAME);
    let changed: BTreeSet<&Path> = changed
        .map(|(path, _)| path.strip_prefix(&folder).unwrap())
        .map(|path| if path.starts_with(&plugin) { plugin.as_path() } else { path })
        .collect();
    let expected = ["Cargo.lock", "tests/Cargo.toml"].map(Path::new);
    assert_eq!(changed, BTreeSet::from([expected[0], plugin.as_path(), expected[1]]));
    let tests = fs::read_to_string(folder.join("tests/Cargo.toml")).unwrap();
    assert!(tests.contains("\nprice_feed = { path = \"../plugins/price_feed\" }\n"), "{tests}");
    let library = fs::read_to_string(folder.join("plugins/price_feed/src/lib.rs")).unwrap();
    assert!(library.contains("export_plugin!(PriceFeed);"), "{library}");
    let tutorial = fs::read_to_string(repository().join("plugin-api/README.md")).unwrap();
    let row = tutorial.lines().find(|line| line.starts_with("| `cargo xtask new-plugin NAME` |")).unwrap();
    for written in ["`plugins/NAME`", "`tests/Cargo.toml`", "`Cargo.lock`"] {
        assert!(row.contains(written), "{row}");
    }
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

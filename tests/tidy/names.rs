//! Names: a folder tells what, a file tells which.

use crate::repository::{File, assert_none, files, read, root};
use std::{collections::BTreeMap, process::Command};

/// Names that say nothing.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "helper", "helpers", "common", "misc"];

#[test]
fn names_say_something() {
    let is_empty = |part: &str| EMPTY_NAMES.contains(&part.split('.').next().unwrap_or(part));
    let found: Vec<String> =
        files().into_iter().map(|file| file.path).filter(|path| path.split('/').any(is_empty)).collect();
    assert_none("name it after what it holds", &found);
}

/// Crates that share nothing with the gateway but libraries, so that they can prove it wrong: their words are their own.
const VERIFIERS: [&str; 2] = ["host/audit-verify", "host/cv-verify"];

#[test]
fn a_public_type_of_the_host_has_its_name_alone() {
    let mut files_by_name = BTreeMap::<String, Vec<String>>::new();
    for file in files().into_iter().filter(|file| file.is_rust() && file.below("host")) {
        if VERIFIERS.iter().any(|verifier| file.below(verifier)) || file.path.contains("/tests") {
            continue;
        }
        for name in file.text.lines().filter_map(public_type) {
            files_by_name.entry(name.to_owned()).or_default().push(file.path.clone());
        }
    }
    assert!(files_by_name.len() > 300, "only {} types found", files_by_name.len());
    let several = files_by_name.into_iter().filter(|(_, files)| files.len() > 1);
    let found: Vec<String> = several.map(|(name, files)| format!("{name}: {}", files.join(", "))).collect();
    assert_none("a name means one thing: let the noun say which of the two it is", &found);
}

/// The name that a line such as `pub(crate) struct Name<T> {` declares, at the left margin.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
    let rest = rest.trim_start();
    let name = ["struct ", "enum ", "trait "].iter().find_map(|kind| rest.strip_prefix(kind))?;
    name.split(|character: char| !character.is_alphanumeric()).next()
}

#[test]
fn a_public_type_is_found() {
    assert_eq!(public_type("pub struct Lease<'a> {"), Some("Lease"));
    assert_eq!(public_type("pub(super) enum State {"), Some("State"));
    assert_eq!(public_type("    pub struct Nested;"), None);
    assert_eq!(public_type("struct Private;"), None);
    assert_eq!(public_type("pub fn lease() {"), None);
}

#[test]
fn rust_files_are_snake_case() {
    let is_plain = |name: &str| {
        name.chars().all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
    };
    let rust = files().into_iter().filter(|file| file.is_rust());
    let odd = rust.filter(|file| !is_plain(file.name().trim_end_matches(".rs")));
    assert_none("Rust files are snake_case", &odd.map(|file| file.path).collect::<Vec<_>>());
}

#[test]
fn the_operation_is_the_file() {
    // `routes/<operation>.rs` declares the handler of that name.
    let routes = files().into_iter().filter(|file| {
        file.is_rust() && file.below("plugins") && file.path.contains("/src/routes/") && file.name() != "mod.rs"
    });
    let lacks_handler = |text: &str, operation: &str| !text.contains(&format!("async fn {operation}("));
    let mut found = Vec::new();
    for file in routes.filter(|file| file.text.contains("pub fn route()")) {
        let operation = file.name().trim_end_matches(".rs");
        if lacks_handler(&file.text, operation) {
            found.push(format!("{}: no `async fn {operation}`", file.path));
        }
    }
    assert_none("a route's file is called like its handler", &found);
}

/// clippy itself, on a source that breaks a rule: so the rules are found where it looks for them, and they are the ones meant.
#[test]
fn clippy_refuses_what_the_rules_forbid() {
    let long = format!("fn main() {{\n{}}}\n", "    println!();\n".repeat(71));
    let broken = [
        ("clippy::disallowed_methods", "fn main() { std::time::SystemTime::now(); }", "std::time::SystemTime::now"),
        ("clippy::too_many_lines", long.as_str(), "too many lines (71/70)"),
    ];
    let mut found = Vec::new();
    for (lint, source, complaint) in broken {
        let said = clippy(lint, source);
        if !said.contains(&format!("[`{lint}`]")) && !said.contains(complaint) {
            found.push(format!("{lint} has nothing against {source:.60}: {said}"));
        }
    }
    assert_none(".clippy.toml holds the rules", &found);
}

/// What clippy says of a program under this lint and the repository's settings.
fn clippy(lint: &str, source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.rs"), source).unwrap();
    let mut clippy = Command::new("clippy-driver");
    clippy.current_dir(folder.path()).env("CLIPPY_CONF_DIR", root());
    let output = clippy.args(["--edition=2024", "--emit=metadata", "main.rs", "-D", lint]).output().unwrap();
    assert!(!output.status.success(), "{lint} is not broken");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The fence around plugins needs panics that unwind, also in release builds, which no test runs.
#[test]
fn no_profile_aborts_on_a_panic() {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in read("Cargo.toml").lines() {
        if line.starts_with('[') {
            line.clone_into(&mut section);
        }
        let (key, value) = line.split_once('=').unwrap_or_default();
        if section.starts_with("[profile.") && key.trim() == "panic" && value.trim() != "\"unwind\"" {
            found.push(format!("{section} {line}"));
        }
    }
    assert_none("a profile unwinds", &found);
}

#[test]
fn every_member_has_lints() {
    let is_member =
        |file: &File| file.name() == "Cargo.toml" && file.path != "Cargo.toml" && !file.below("tests/fixtures");
    let lacking = files().into_iter().filter(is_member).filter(|file| !file.text.contains("\n[lints"));
    assert_none(
        "a package says `[lints] workspace = true`, or has lints of its own and says why",
        &lacking.map(|file| file.path).collect::<Vec<_>>(),
    );
}

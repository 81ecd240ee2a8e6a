//! Names: a folder tells what, a file tells which.

use crate::repository::{File, assert_none, files, read};

/// Names that say nothing.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "helper", "helpers", "common", "misc"];

#[test]
fn names_say_something() {
    let is_empty = |part: &str| EMPTY_NAMES.contains(&part.split('.').next().unwrap_or(part));
    let found: Vec<String> =
        files().into_iter().map(|file| file.path).filter(|path| path.split('/').any(is_empty)).collect();
    assert_none("name it after what it holds", &found);
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

#[test]
fn tool_rules_stand_where_they_are_looked_for() {
    let clippy = read(".clippy.toml");
    for rule in ["disallowed-methods", "std::time::SystemTime::now", "too-many-lines-threshold = 70"] {
        assert!(clippy.contains(rule), ".clippy.toml lacks {rule}");
    }
    let workspace = read("Cargo.toml");
    assert!(workspace.contains("unsafe_code = \"deny\""), "Cargo.toml no longer denies unsafe code");
    assert!(!workspace.contains("panic = \"abort\""), "the fence around plugins needs panic = \"unwind\"");
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

//! Rust files: their size, how they open, what they must not contain.

use crate::repository::{File, assert_none, files};

const LINES_MAX: usize = 500;
/// Folders of our own code.
const CODE: [&str; 5] = ["host", "plugin-api", "plugins", "tests", "xtask"];

fn rust_files() -> Vec<File> {
    files().into_iter().filter(|file| file.is_rust() && CODE.iter().any(|folder| file.below(folder))).collect()
}

#[test]
fn files_are_short() {
    let long = |file: &File| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| format!("{}: {lines} lines", file.path))
    };
    let found: Vec<String> = rust_files().iter().filter_map(long).collect();
    assert_none("a file has at most 500 lines: split it by what it is about", &found);
}

#[test]
fn modules_open_with_their_purpose() {
    let found: Vec<String> =
        rust_files().into_iter().filter(|file| !opens_with_purpose(&file.text)).map(|file| file.path).collect();
    assert_none("a file begins with `//!` and its purpose in a line", &found);
}

fn opens_with_purpose(text: &str) -> bool {
    text.lines().next().and_then(|line| line.strip_prefix("//! ")).is_some_and(|purpose| purpose.len() >= 10)
}

#[test]
fn nothing_is_left_unfinished() {
    // Put together here, so that this file does not find itself.
    let forbidden = ["todo", "unimplemented", "dbg"].map(|name| format!("{name}!("));
    let mut found = Vec::new();
    for file in rust_files() {
        for (number, line) in file.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if forbidden.iter().any(|word| code.contains(word.as_str())) {
                found.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert_none("finish it, or leave it out", &found);
}

#[test]
fn plugins_forbid_unsafe_code() {
    let libraries: Vec<File> =
        rust_files().into_iter().filter(|file| file.below("plugins") && file.path.ends_with("/src/lib.rs")).collect();
    assert!(!libraries.is_empty(), "no plugin has a src/lib.rs");
    let lacking = |file: &File| !file.text.lines().any(|line| line == "#![forbid(unsafe_code)]");
    let found: Vec<String> = libraries.into_iter().filter(lacking).map(|file| file.path).collect();
    assert_none("a plugin's src/lib.rs says #![forbid(unsafe_code)]", &found);
}

#[test]
fn the_checks_find_what_they_look_for() {
    assert!(opens_with_purpose("//! What this is for.\n"));
    assert!(!opens_with_purpose("use std::fs;\n//! Too late.\n"));
    assert!(!opens_with_purpose("//! \n"));
}

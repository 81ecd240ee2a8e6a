//! What a plugin may be called: the rule of `plugin_api::abi::is_plugin_name`, written a second time because this crate has
//! no dependencies (tests/tidy/plugins.rs compares the two), and names that cargo or the compiler would refuse later.

use std::fmt;

pub fn is_plugin_name(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|character| character.is_ascii_lowercase());
    let is_inner = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    first && (2..=31).contains(&name.len()) && characters.all(is_inner)
}

/// Words of Rust, which cannot be the name of a crate.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if \
    impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe \
    unsized use virtual where while yield";
/// Crates that a plugin uses, and those of the compiler.
const CRATES: &str =
    "alloc core plugin_api plugin_test_kit plugin_testing proc_macro schemars serde std test thiserror tokio";
/// Folders of cargo's target folder, which cargo keeps for itself.
const FOLDERS: &str = "build deps examples incremental";

/// Why a name cannot be a plugin's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    Form { name: String },
    Taken { name: String, by: &'static str },
}

impl fmt::Display for NameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { name } => {
                write!(out, "{name:?} is no plugin name: a-z, 0-9 and _, first a letter, 2 to 31 characters")
            }
            Self::Taken { name, by } => write!(out, "a plugin cannot be called {name:?}, {by}: choose another name"),
        }
    }
}

impl std::error::Error for NameError {}

/// Whether a new plugin can have this name.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if !is_plugin_name(name) {
        return Err(NameError::Form { name: name.to_owned() });
    }
    let lists =
        [(KEYWORDS, "a word of Rust"), (CRATES, "a crate that plugins use"), (FOLDERS, "a folder of cargo's own")];
    match lists.iter().find(|(words, _)| words.split_whitespace().any(|word| word == name)) {
        Some((_, by)) => Err(NameError::Taken { name: name.to_owned(), by }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_not_compile_are_refused_with_the_reason() {
        let said = |name: &str| check_name(name).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(said("price_feed"), "");
        assert!(said("My-Plugin").contains("is no plugin name: a-z, 0-9 and _"), "{}", said("My-Plugin"));
        assert_eq!(said("async"), "a plugin cannot be called \"async\", a word of Rust: choose another name");
        assert!(said("serde").contains("a crate that plugins use"));
        assert!(said("deps").contains("a folder of cargo's own"));
    }
}

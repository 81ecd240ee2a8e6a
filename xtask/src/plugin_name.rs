//! What a plugin may be called: the rule of `plugin_api::abi::is_plugin_name`, written a second time because this crate has
//! no dependencies. tests/tidy/plugins.rs compares the two.

pub fn is_plugin_name(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|character| character.is_ascii_lowercase());
    let is_inner = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    first && (2..=31).contains(&name.len()) && characters.all(is_inner)
}

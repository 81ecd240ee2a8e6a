//! Where the methods of a type are: in one folder of its crate, so that a reader finds all of them there.

use crate::repository::{assert_none, files};
use std::collections::{BTreeMap, BTreeSet};

/// The folders with methods, by crate of the host and type.
type Folders = BTreeMap<(String, String), BTreeSet<String>>;

#[test]
fn the_methods_of_a_type_are_in_one_folder() {
    let mut folders = Folders::new();
    for file in files().into_iter().filter(|file| file.is_rust()) {
        let Some((name, path)) = file.path.strip_prefix("host/").and_then(|rest| rest.split_once("/src/")) else {
            continue;
        };
        note(&mut folders, name, path, &file.text);
    }
    assert!(folders.len() > 200, "only {} types of the host have methods", folders.len());
    assert_none("move the methods beside the type, or give them a type of their own", &scattered(&folders));
}

fn note(folders: &mut Folders, name: &str, path: &str, text: &str) {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for of in text.lines().filter_map(type_of_impl) {
        folders.entry((name.to_owned(), of.to_owned())).or_default().insert(format!("src/{folder}"));
    }
}

/// The type of a line such as `impl<'a> Type<'a> {`; none for the impl of a trait.
fn type_of_impl(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = if rest.starts_with('<') { after_generics(rest)? } else { rest };
    let of = rest.strip_prefix(' ')?;
    let end = of.find(|character: char| !character.is_alphanumeric() && character != '_')?;
    (!of.contains(" for ") && !of.ends_with(" for")).then(|| &of[..end])
}

fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (index, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if !text[..index].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(index + 1..);
        }
    }
    None
}

fn scattered(folders: &Folders) -> Vec<String> {
    let several = folders.iter().filter(|(_, folders)| folders.len() > 1);
    several.map(|((name, of), folders)| format!("host/{name}: {of} has methods in {folders:?}")).collect()
}

#[test]
fn methods_in_two_folders_are_found() {
    assert_eq!(type_of_impl("impl Chain {"), Some("Chain"));
    assert_eq!(type_of_impl("impl<T: Fn() -> Vec<u8>> Call<'_, T> {"), Some("Call"));
    assert_eq!(type_of_impl("impl<T> Drop for Call<'_, T> {"), None);
    assert_eq!(type_of_impl("    impl Inner {"), None);
    let mut folders = Folders::new();
    for (path, text) in [("chain.rs", "impl Chain {"), ("head.rs", "impl Chain {"), ("raw/mod.rs", "impl Head {")] {
        note(&mut folders, "chain", path, text);
    }
    assert!(scattered(&folders).is_empty());
    note(&mut folders, "chain", "raw/mod.rs", "impl Chain {");
    assert_eq!(scattered(&folders), ["host/chain: Chain has methods in {\"src/\", \"src/raw\"}"]);
}

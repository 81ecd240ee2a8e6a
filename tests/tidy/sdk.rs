//! The names of `plugin-api` that an author meets.
//!
//! The rule of the count: one for each name at the root of the crate (a trait and its derive are one name) and one for each
//! topic module, which has a page with an example of all its names. `abi`, `manifest` and what is hidden from the documentation
//! belong to the gateway: no plugin uses it.

use crate::{
    modules::uses,
    repository::{File, assert_none, files, read},
};
use std::collections::{BTreeMap, BTreeSet};

const NAMES_MAX: usize = 60;
/// All names in topic modules together; `point` and `format` included.
const TOPIC_NAMES_MAX: usize = 181;

/// The root of the crate, and what lies below each topic module.
struct Surface {
    root: BTreeSet<String>,
    topics: BTreeMap<String, BTreeSet<String>>,
}

impl Surface {
    fn read() -> Self {
        let lib = read("plugin-api/src/lib.rs");
        let hidden = ["abi", "manifest", "host", "__private", "abi_stable", "async_ffi"];
        let is_shown = |name: &String| !hidden.contains(&name.as_str());
        let visible = lib.split("/// What the gateway").next().unwrap_or_default();
        let mut root: BTreeSet<String> = exported(visible).filter(is_shown).collect();
        // `#[macro_export]` puts them at the root.
        root.extend(["export_plugin", "migrations", "record_id"].map(str::to_owned));
        let mut topics = BTreeMap::new();
        let modules =
            lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned));
        for name in modules.filter(is_shown) {
            topics.insert(name.clone(), exported(&read(&format!("plugin-api/src/{name}.rs"))).collect());
        }
        for (name, file) in [("format", "format/mod.rs"), ("point", "point.rs")] {
            let text = read(&format!("plugin-api/src/sdk/{file}"));
            assert!(root.remove(name), "{name} is exported");
            topics.insert(name.to_owned(), exported(&text).chain(defined(&text)).collect());
        }
        Self { root, topics }
    }
}

/// What a file re-exports.
fn exported(text: &str) -> impl Iterator<Item = String> {
    let text = text.replace("pub(crate) use", "use");
    uses(&text).into_iter().filter(|(_, is_public)| *is_public).filter_map(|(path, _)| path.last().cloned())
}

/// The public items of a file.
fn defined(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(defined_name).map(str::to_owned)
}

fn defined_name(line: &str) -> Option<&str> {
    // An id in `record_id!(…)`.
    if let Some(id) = line.strip_prefix("    ").and_then(|line| line.strip_suffix("Id,")).filter(|id| !id.contains(' '))
    {
        return line.get(4..4 + id.len() + 2);
    }
    let item = match line.strip_prefix("macro_rules! ") {
        Some(name) => name,
        None => {
            let words = line.strip_prefix("pub ")?;
            let words = words.strip_prefix("async ").unwrap_or(words).trim_start_matches("const fn ");
            let kinds = ["struct ", "enum ", "trait ", "fn ", "const "];
            kinds.iter().find_map(|kind| words.strip_prefix(kind))?
        }
    };
    item.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().filter(|name| !name.is_empty())
}

#[test]
fn an_author_meets_few_names() {
    let Surface { root, topics } = Surface::read();
    assert!(root.contains("Route") && topics["chain"].contains("TxState"), "{root:?} {topics:?}");
    let count = root.len() + topics.len();
    assert!(count <= NAMES_MAX, "{count} names: merge two, or move a rare one to its topic. {root:?} {topics:?}");
    let below: usize = topics.values().map(BTreeSet::len).sum();
    assert!(below <= TOPIC_NAMES_MAX, "{below} names in topic modules: {topics:?}");
}

#[test]
fn a_plugin_uses_the_names_of_authors() {
    let names = Surface::read();
    let mut found = Vec::new();
    for File { path, text, .. } in files().into_iter().filter(|file| file.is_rust() && file.below("plugins")) {
        if !path.contains("/src/") {
            continue;
        }
        for (used, _) in
            uses(&text).into_iter().filter(|(used, _)| used.first().is_some_and(|first| first == "plugin_api"))
        {
            let is_known = match used.get(1..).unwrap_or_default() {
                [name] => names.root.contains(name) || names.topics.contains_key(name),
                [topic, ..] => names.topics.contains_key(topic),
                [] => false,
            };
            if !is_known {
                found.push(format!("{path}: {}", used.join("::")));
            }
        }
    }
    assert_none("plugins use the names that have an example; the others are the gateway's", &found);
}

#[test]
fn every_name_has_an_example() {
    let Surface { root, topics } = Surface::read();
    let sources: Vec<File> =
        files().into_iter().filter(|file| file.is_rust() && file.below("plugin-api/src")).collect();
    let documented = examples_by_name(&sources);
    let has_own = |name: &String| documented.get(name).is_some_and(|example| mentions(example, name));
    let mut found: Vec<String> = root.iter().filter(|name| !has_own(name)).cloned().collect();
    for (topic, names) in &topics {
        let page =
            ["", "sdk/"].iter().flat_map(|folder| [format!("{folder}{topic}.rs"), format!("{folder}{topic}/mod.rs")]);
        let page = page.map(|file| format!("plugin-api/src/{file}")).find(|file| {
            sources.iter().any(|source| {
                source.path == *file
                    && !example(source.text.lines().map_while(|line| line.strip_prefix("//!"))).is_empty()
            })
        });
        let text = page.map(|file| read(&file)).unwrap_or_default();
        let shown = example(text.lines().map_while(|line| line.strip_prefix("//!")));
        found.extend(
            names
                .iter()
                .filter(|name| !mentions(&shown, name) && !has_own(name))
                .map(|name| format!("{topic}::{name}")),
        );
    }
    assert_none("write a block ``` above the name, or show it in the example of its topic's page", &found);
}

/// The examples in the documentation of each item.
fn examples_by_name(sources: &[File]) -> BTreeMap<String, String> {
    let mut examples = BTreeMap::new();
    for File { text, .. } in sources {
        let mut documentation = Vec::new();
        for line in text.lines() {
            let name = if line.starts_with("pub use ") {
                line.trim_end_matches(';').rsplit("::").next()
            } else {
                defined_name(line)
            };
            match (line.trim_start().strip_prefix("///"), name) {
                (Some(doc), _) => documentation.push(doc),
                (None, Some(name)) => {
                    let example = example(documentation.drain(..));
                    if !example.is_empty() {
                        examples.insert(name.to_owned(), example);
                    }
                }
                // Attributes stand between an item and its documentation.
                (None, None) if line.is_empty() || line.ends_with('}') => documentation.clear(),
                (None, None) => {}
            }
        }
    }
    examples
}

/// The code that a documentation shows and rustdoc compiles, or says why not.
fn example<'t>(documentation: impl Iterator<Item = &'t str>) -> String {
    let (mut code, mut is_code, mut is_compiled) = (String::new(), false, false);
    for line in documentation {
        match line.trim().strip_prefix("```") {
            Some(kind) if !is_code => {
                (is_code, is_compiled) = (true, kind.is_empty() || kind == "no_run" || kind.starts_with("ignore ("))
            }
            Some(_) => is_code = false,
            None if is_code && is_compiled => code.extend([line, "\n"]),
            None => {}
        }
    }
    code
}

fn mentions(example: &str, name: &str) -> bool {
    example.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name)
}

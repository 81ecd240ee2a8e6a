//! Hints for unknown names: the one that was probably meant, and all that are allowed.

use super::{
    schema::{self, Node, Section},
    variable_name::variable_name,
};

/// For a key in the file that `section`, written `[section_key]`, does not have.
pub(super) fn unknown_key_hint(section: &Section, section_key: &str, name: &str) -> String {
    let list = allowed_names(section, section_key);
    if let Some(sibling) = closest(name, section.keys.keys()) {
        return format!("did you mean {sibling}? {list}");
    }
    let elsewhere: Vec<_> = schema::root().leaf_paths().into_iter().filter(|path| ends_in(path, name)).collect();
    if !elsewhere.is_empty() {
        return format!("did you mean {}? {list}", elsewhere.join(" or "));
    }
    if section_key == "plugins" {
        return format!("{list}; a plugin has a section of its own: [plugins.{name}]");
    }
    list
}

/// For a variable that sets no key.
pub(super) fn unknown_variable_hint(path: &[String]) -> String {
    let rule = "two underscores divide the levels: GATEWAY_HTTP__LISTEN is http.listen";
    if let Some(key) = closest_key(path) {
        return format!("did you mean {}? {rule}", variable_name(&key));
    }
    let root = schema::root();
    match (path, path.first().and_then(|name| root.keys.get(name))) {
        ([first, plugin], _) if first == "plugins" => {
            let variable = variable_name(&format!("plugins.{plugin}.enabled"));
            format!("a plugin's settings stand one level deeper: {variable}")
        }
        ([first, ..], Some(Node::Section(section))) => {
            format!("{}; {rule}", allowed_names(section, first))
        }
        _ => format!("{}; {rule}", allowed_names(root, "")),
    }
}

/// The key that was probably meant: equal but for its separators, else similar in the same section, else similar as a whole.
fn closest_key(path: &[String]) -> Option<String> {
    let root = schema::root();
    let key = path.join(".");
    let paths = root.leaf_paths();
    let collapsed = |text: &str| text.replace(['.', '_'], "");
    if let Some(same) = paths.iter().find(|candidate| collapsed(candidate) == collapsed(&key)) {
        return Some(same.clone());
    }
    match (path, path.first().and_then(|name| root.keys.get(name))) {
        ([first, name, ..], Some(Node::Section(section))) => {
            closest(name, section.keys.keys()).map(|sibling| format!("{first}.{sibling}"))
        }
        _ => closest(&key, paths.iter()).map(ToOwned::to_owned),
    }
}

fn allowed_names(section: &Section, section_key: &str) -> String {
    let place = if section_key.is_empty() { "at the top".to_owned() } else { format!("in [{section_key}]") };
    let names: Vec<_> = section.keys.keys().map(String::as_str).collect();
    format!("allowed {place}: {}", names.join(", "))
}

/// The allowed text with the smallest edit distance, if that is small enough for a typo.
pub(super) fn closest<'a>(text: &str, allowed: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let distance_max = (text.chars().count() / 3).clamp(1, 3);
    allowed
        .map(|candidate| (strsim::osa_distance(&text.to_lowercase(), candidate), candidate.as_str()))
        .filter(|(distance, _)| *distance <= distance_max)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Whether `name` is the last part of `path`, or all of it joined by underscores.
fn ends_in(path: &str, name: &str) -> bool {
    path.rsplit('.').next() == Some(name) || path.replace('.', "_") == name
}

//! Hints for names that are not known: the likely intended one, and all that are allowed.

use super::{
    environment,
    schema::{self, Node, Section},
};

/// For a key in the file that `section` (written `[at]`) does not have.
pub(super) fn for_file(section: &Section, at: &str, name: &str) -> String {
    let list = allowed(section, at);
    if let Some(sibling) = nearest(name, section.keys.keys()) {
        return format!("did you mean {sibling}? {list}");
    }
    let elsewhere: Vec<_> = schema::root().leaf_paths().into_iter().filter(|path| means(path, name)).collect();
    if !elsewhere.is_empty() {
        return format!("did you mean {}? {list}", elsewhere.join(" or "));
    }
    if at == "plugins" {
        return format!("{list}; a plugin has a section of its own: [plugins.{name}]");
    }
    list
}

/// For a variable whose name, read as a key, names no field.
pub(super) fn for_variable(path: &[String]) -> String {
    let rule = "two underscores divide the levels: GATEWAY_HTTP__LISTEN is http.listen";
    if let Some(key) = closest_key(path) {
        return format!("did you mean {}? {rule}", environment::variable_of(&key));
    }
    let root = schema::root();
    match (path, path.first().and_then(|name| root.keys.get(name))) {
        ([first, plugin], _) if first == "plugins" => {
            let variable = environment::variable_of(&format!("plugins.{plugin}.enabled"));
            format!("a plugin's settings stand one level deeper: {variable}")
        }
        ([first, ..], Some(Node::Section(section))) => {
            format!("{}; {rule}", allowed(section, first))
        }
        _ => format!("{}; {rule}", allowed(root, "")),
    }
}

/// The key that was meant: with other underscores, beside it in its section, or close to all of it.
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
            nearest(name, section.keys.keys()).map(|sibling| format!("{first}.{sibling}"))
        }
        _ => nearest(&key, paths.iter()).map(ToOwned::to_owned),
    }
}

fn allowed(section: &Section, at: &str) -> String {
    let place = if at.is_empty() { "at the top".to_owned() } else { format!("in [{at}]") };
    let names: Vec<_> = section.keys.keys().map(String::as_str).collect();
    format!("allowed {place}: {}", names.join(", "))
}

/// The closest of the allowed texts, when it is close.
pub(super) fn nearest<'a>(text: &str, allowed: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let distance_max = (text.chars().count() / 3).clamp(1, 3);
    allowed
        .map(|candidate| (strsim::osa_distance(&text.to_lowercase(), candidate), candidate.as_str()))
        .filter(|(distance, _)| *distance <= distance_max)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Whether `name`, at a wrong place, stands for the key `path`: its last part, or all of it joined.
fn means(path: &str, name: &str) -> bool {
    path.rsplit('.').next() == Some(name) || path.replace('.', "_") == name
}

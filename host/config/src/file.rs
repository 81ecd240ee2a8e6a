//! The configuration file. Rule: a file that was named must exist, and a message about its text never quotes a line, which
//! may hold a secret.

use std::path::{Path, PathBuf};

use figment::{
    Profile, Provider,
    providers::{Format, Toml},
    value::{Dict, Value},
};

use super::{
    layer::Layer,
    overrides::Overrides,
    problem::{Problem, Source},
    schema::{self, Node, Section},
    suggest, variable_name,
};

const DEFAULT_PATH: &str = "config/gateway.toml";
/// The TOML reader returns a date as a table with this one key.
const DATE_KEY: &str = "$__toml_private_datetime";

/// Files to try, in this order, when none is named.
pub(super) fn default_paths() -> Vec<PathBuf> {
    let beside_binary = std::env::current_exe().ok().and_then(|binary| Some(binary.parent()?.join(DEFAULT_PATH)));
    std::iter::once(PathBuf::from(DEFAULT_PATH)).chain(beside_binary).collect()
}

/// Reads the file that is named, or the first default path that exists. Unknown keys are reported and left out.
pub(super) fn read(
    flags: &Overrides,
    variables: &[(String, String)],
    default_paths: &[PathBuf],
    problems: &mut Vec<Problem>,
) -> Option<Layer> {
    let variable = || variables.iter().find(|(name, _)| name == variable_name::CONFIG_FILE);
    let named = match (&flags.config, variable()) {
        (Some(path), _) => Some((path.clone(), Source::Flag("--config".to_owned()))),
        (None, Some((name, path))) => Some((PathBuf::from(path), Source::Environment(name.clone()))),
        (None, None) => None,
    };
    let (path, path_source) = match named {
        Some((path, source)) => (path, source),
        None => {
            let path = default_paths.iter().find(|path| path.is_file())?;
            (path.clone(), Source::File(path.clone()))
        }
    };
    let source = Source::File(path.clone());
    match std::fs::read_to_string(&path) {
        Err(error) => {
            let message = format!("the file {} cannot be read: {error}", path.display());
            problems.push(Problem::new(
                "config",
                path_source,
                message,
                "name a readable TOML file; config/gateway.toml is the model",
            ));
            None
        }
        Ok(text) => parse(&text, &path, problems).map(|mut dict| {
            remove_unknown_keys(schema::root(), &mut dict, "", &source, problems);
            Layer { source, dict }
        }),
    }
}

fn parse(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<Dict> {
    match Toml::string(text).data() {
        Ok(mut profiles) => {
            let mut dict = profiles.remove(&Profile::Default).unwrap_or_default();
            dict.values_mut().for_each(dates_to_text);
            Some(dict)
        }
        Err(error) => {
            let message = format!("it is no TOML: {}", without_excerpt(&error.kind.to_string()));
            problems.push(Problem::new(
                "config",
                Source::File(path.to_owned()),
                message,
                "correct the line; nothing in the file was read",
            ));
            None
        }
    }
}

/// Removes the quoted lines of the file (`3 | url = …`, `  | ^`) from a parser's message.
fn without_excerpt(message: &str) -> String {
    let is_excerpt =
        |line: &str| line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
    message.lines().filter(|line| !is_excerpt(line)).map(str::trim).collect::<Vec<_>>().join(": ")
}

fn dates_to_text(value: &mut Value) {
    match value {
        Value::Dict(tag, dict) => match dict.remove(DATE_KEY) {
            Some(Value::String(_, date)) => *value = Value::String(*tag, date),
            _ => dict.values_mut().for_each(dates_to_text),
        },
        Value::Array(_, items) => items.iter_mut().for_each(dates_to_text),
        _ => {}
    }
}

/// Removes and reports keys that belong to no field. Tables under `[plugins]` are the sections of plugins.
fn remove_unknown_keys(
    section: &Section,
    dict: &mut Dict,
    section_key: &str,
    source: &Source,
    problems: &mut Vec<Problem>,
) {
    dict.retain(|name, value| {
        let key = if section_key.is_empty() { name.clone() } else { format!("{section_key}.{name}") };
        match (section.get(name), &mut *value) {
            (Some(Node::Section(inner)), Value::Dict(_, dict)) => {
                remove_unknown_keys(inner, dict, &key, source, problems)
            }
            (Some(_), _) => {}
            (None, Value::Dict(..)) if section_key == "plugins" => {}
            (None, _) => {
                problems.push(Problem::new(
                    key,
                    source.clone(),
                    unknown_key_message(section_key),
                    suggest::unknown_key_hint(section, section_key, name),
                ));
                return false;
            }
        }
        true
    });
}

fn unknown_key_message(section_key: &str) -> String {
    if section_key.is_empty() { "unknown key".to_owned() } else { format!("unknown key in [{section_key}]") }
}

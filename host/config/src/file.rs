//! The configuration file. Rule: a file that was named must be there, and a message about its text never shows the line,
//! which may hold a secret.

use std::path::{Path, PathBuf};

use figment::{
    Profile, Provider,
    providers::{Format, Toml},
    value::{Dict, Value},
};

use super::{
    environment,
    layers::Layer,
    overrides::Overrides,
    problem::{Problem, Source},
    schema::{self, Node, Section},
    suggest,
};

const NAME: &str = "config/gateway.toml";
/// How the TOML reader hands over a date: as a table with this one key.
const DATE: &str = "$__toml_private_datetime";

/// Files to try, in this order, when none is named.
pub(super) fn candidates() -> Vec<PathBuf> {
    let beside_binary = std::env::current_exe().ok().and_then(|binary| Some(binary.parent()?.join(NAME)));
    std::iter::once(PathBuf::from(NAME)).chain(beside_binary).collect()
}

/// Reads the file that applies; unknown keys are reported and left out.
pub(super) fn read(
    flags: &Overrides,
    variables: &[(String, String)],
    candidates: &[PathBuf],
    found: &mut Vec<Problem>,
) -> Option<Layer> {
    let variable = || variables.iter().find(|(name, _)| name == environment::CONFIG_FILE);
    let named = match (&flags.config, variable()) {
        (Some(path), _) => Some((path.clone(), Source::Flag("--config".to_owned()))),
        (None, Some((name, path))) => Some((PathBuf::from(path), Source::Environment(name.clone()))),
        (None, None) => None,
    };
    let (path, named_by) = match named {
        Some((path, source)) => (path, source),
        None => {
            let path = candidates.iter().find(|path| path.is_file())?;
            (path.clone(), Source::File(path.clone()))
        }
    };
    let source = Source::File(path.clone());
    match std::fs::read_to_string(&path) {
        Err(error) => {
            let message = format!("the file {} cannot be read: {error}", path.display());
            found.push(Problem::new(
                "config",
                named_by,
                message,
                "name a readable TOML file; config/gateway.toml is the model",
            ));
            None
        }
        Ok(text) => parse(&text, &path, found).map(|mut dict| {
            strip_unknown(schema::root(), &mut dict, "", &source, found);
            Layer { source, dict }
        }),
    }
}

fn parse(text: &str, path: &Path, found: &mut Vec<Problem>) -> Option<Dict> {
    match Toml::string(text).data() {
        Ok(mut profiles) => {
            let mut dict = profiles.remove(&Profile::Default).unwrap_or_default();
            dict.values_mut().for_each(dates_to_text);
            Some(dict)
        }
        Err(error) => {
            let message = format!("it is no TOML: {}", without_excerpt(&error.kind.to_string()));
            found.push(Problem::new(
                "config",
                Source::File(path.to_owned()),
                message,
                "correct the line; nothing in the file was read",
            ));
            None
        }
    }
}

/// Keeps where and what of a parser's message and drops the lines of the file in it (`3 | url = …`, `  | ^`).
fn without_excerpt(message: &str) -> String {
    let excerpt =
        |line: &str| line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
    message.lines().filter(|line| !excerpt(line)).map(str::trim).collect::<Vec<_>>().join(": ")
}

fn dates_to_text(value: &mut Value) {
    match value {
        Value::Dict(tag, dict) => match dict.remove(DATE) {
            Some(Value::String(_, date)) => *value = Value::String(*tag, date),
            _ => dict.values_mut().for_each(dates_to_text),
        },
        Value::Array(_, items) => items.iter_mut().for_each(dates_to_text),
        _ => {}
    }
}

/// Removes and reports keys that no field has. Tables under `[plugins]` are the sections of plugins.
fn strip_unknown(section: &Section, dict: &mut Dict, at: &str, source: &Source, found: &mut Vec<Problem>) {
    dict.retain(|name, value| {
        let key = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        match (section.get(name), &mut *value) {
            (Some(Node::Section(inner)), Value::Dict(_, dict)) => strip_unknown(inner, dict, &key, source, found),
            (Some(_), _) => {}
            (None, Value::Dict(..)) if at == "plugins" => {}
            (None, _) => {
                found.push(Problem::new(key, source.clone(), unknown(at), suggest::for_file(section, at, name)));
                return false;
            }
        }
        true
    });
}

fn unknown(at: &str) -> String {
    if at.is_empty() { "unknown key".to_owned() } else { format!("unknown key in [{at}]") }
}

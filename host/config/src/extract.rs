//! Turns the merged layers into the typed configuration. Rule: serde stops at its first error, so each value that it
//! refuses is reported and removed, and the rest is read again, until serde accepts it.

use figment::{
    Figment,
    error::{Error, Kind as ErrorKind},
    value::{Dict, Value},
};

use super::{
    config::Config,
    layer::Layer,
    plugins::PluginSettings,
    problem::{Problem, Source},
    schema::{self, Leaf, Node, Section, ValueKind},
    sources::Sources,
    suggest,
};

const PLUGINS: &str = "plugins";

/// Merges the layers and reads them; what is wrong is reported and has its default.
pub(super) fn extract(layers: Vec<Layer>, problems: &mut Vec<Problem>) -> Config {
    let file = layers.iter().find_map(|layer| match &layer.source {
        Source::File(path) => Some(path.clone()),
        _ => None,
    });
    let figment = layers.into_iter().fold(Figment::new(), Figment::merge);
    let merged = figment.find_value("").unwrap_or_else(|_nothing_set| Value::from(Dict::new()));
    let sources = Sources::new(&figment, &merged, file);
    let mut dict = merged.into_dict().unwrap_or_default();

    let plugins = take_plugin_sections(&mut dict);
    remove_wrong_types(schema::root(), &mut dict, "", &sources, problems);
    let mut config = read_fields(dict, &sources, problems);
    for (name, section) in plugins {
        let settings = read_plugin_section(&name, section, &sources, problems);
        config.plugins.sections.insert(name, settings);
    }
    problems.extend(config.database.resolve_url(&sources));
    config.sources = sources;
    config
}

/// Removes the sections of plugins from `[plugins]` and returns them.
fn take_plugin_sections(dict: &mut Dict) -> Vec<(String, Dict)> {
    let Some(Value::Dict(_, plugins)) = dict.get_mut(PLUGINS) else {
        return Vec::new();
    };
    let Some(Node::Section(known)) = schema::root().keys.get(PLUGINS) else {
        return Vec::new();
    };
    let (gateway_keys, sections) =
        std::mem::take(plugins).into_iter().partition(|(name, _)| known.keys.contains_key(name));
    *plugins = gateway_keys;
    sections.into_iter().filter_map(|(name, value)| Some((name, value.into_dict()?))).collect()
}

/// Removes and reports values whose type is not that of their key.
fn remove_wrong_types(
    section: &Section,
    dict: &mut Dict,
    section_key: &str,
    sources: &Sources,
    problems: &mut Vec<Problem>,
) {
    dict.retain(|name, value| {
        let key = if section_key.is_empty() { name.clone() } else { format!("{section_key}.{name}") };
        let expected = match (section.get(name), &mut *value) {
            (Some(Node::Section(inner)), Value::Dict(_, dict)) => {
                remove_wrong_types(inner, dict, &key, sources, problems);
                return true;
            }
            (Some(Node::Leaf(leaf)), value) if has_kind(leaf.kind, value) => return true,
            (Some(Node::Leaf(leaf)), _) => leaf.expected(),
            (Some(Node::Section(_)) | None, _) => format!("expected: a section, written [{key}]"),
        };
        // A value directly below `signers`, or in place of `secrets` or below it, may be a key that the operator put there.
        let may_be_key = section_key == "signers" || key == "secrets" || section_key == "secrets";
        let is_secret = may_be_key || matches!(section.get(name), Some(Node::Leaf(leaf)) if leaf.is_secret);
        let message = if is_secret { "it has another form".to_owned() } else { format!("it is {}", describe(value)) };
        problems.push(Problem::new(&key, sources.of(&key), message, expected));
        false
    });
}

fn has_kind(kind: ValueKind, value: &Value) -> bool {
    match kind {
        ValueKind::Text => matches!(value, Value::String(..) | Value::Char(..)),
        ValueKind::Boolean => matches!(value, Value::Bool(..)),
        ValueKind::List => matches!(value, Value::Array(..)),
        ValueKind::WholeNumber => value.to_num().is_some_and(|number| number.to_f64().is_none()),
    }
}

fn read_fields(mut dict: Dict, sources: &Sources, problems: &mut Vec<Problem>) -> Config {
    loop {
        let error = match Value::from(dict.clone()).deserialize::<Config>() {
            Ok(config) => return config,
            Err(error) => error,
        };
        let Some((path, value)) = remove_refused(&mut dict, &error.path) else {
            problems.push(Problem::new(
                "config",
                Source::Default,
                error.to_string(),
                "compare it with config/gateway.toml",
            ));
            return Config::default();
        };
        let key = path.join(".");
        let (message, hint) = match schema::root().find(&path) {
            Some(Node::Leaf(leaf)) => describe_refusal(leaf, &value, &error),
            _ => (error.kind.to_string(), "compare it with config/gateway.toml".to_owned()),
        };
        problems.push(Problem::new(&key, sources.of(&key), message, hint));
    }
}

/// Removes the value that an error points to, or the list that holds it.
fn remove_refused(dict: &mut Dict, path: &[String]) -> Option<(Vec<String>, Value)> {
    let (name, rest) = path.split_first()?;
    if let Some(Value::Dict(_, inner)) = dict.get_mut(name)
        && !rest.is_empty()
    {
        let (mut inner_path, value) = remove_refused(inner, rest)?;
        inner_path.insert(0, name.clone());
        return Some((inner_path, value));
    }
    dict.remove(name).map(|value| (vec![name.clone()], value))
}

fn describe_refusal(leaf: &Leaf, value: &Value, error: &Error) -> (String, String) {
    let expected = leaf.expected();
    if leaf.is_secret {
        return ("its value is refused".to_owned(), expected);
    }
    if leaf.kind == ValueKind::WholeNumber {
        return (format!("{} is out of range", describe(value)), expected);
    }
    if let ErrorKind::UnknownVariant(variant, _) = &error.kind {
        let closest = suggest::closest(variant, leaf.choices().iter());
        let hint = closest.map_or(expected.clone(), |choice| format!("did you mean {choice}? {expected}"));
        return (format!("{variant:?} is not allowed"), hint);
    }
    (format!("{} is refused: {}", describe(value), error.kind), expected)
}

/// One section `[plugins.<name>]`: checks the gateway's keys and passes on the others.
fn read_plugin_section(
    name: &str,
    mut section: Dict,
    sources: &Sources,
    problems: &mut Vec<Problem>,
) -> PluginSettings {
    let mut refuse = |key: &str, message: String, hint: &str| {
        let key = format!("{PLUGINS}.{name}.{key}");
        let source = sources.of(&key);
        problems.push(Problem::new(key, source, message, hint));
    };
    let enabled = section.remove("enabled").and_then(|value| {
        if value.to_bool().is_none() {
            refuse("enabled", format!("it is {}", describe(&value)), "expected: true or false");
        }
        value.to_bool()
    });
    let sha256 = section.remove("sha256").and_then(|value| match value {
        Value::String(_, pin) => Some(pin.to_ascii_lowercase()),
        other => {
            refuse("sha256", format!("it is {}", describe(&other)), "expected: 64 hexadecimal digits in quotes");
            None
        }
    });
    let grants = section.remove("grants").and_then(|value| {
        let grants = value.deserialize::<Vec<String>>();
        if grants.is_err() {
            refuse("grants", format!("it is {}", describe(&value)), "expected: a list of texts, such as [\"egress\"]");
        }
        grants.ok()
    });
    let mut config = serde_json::Map::new();
    for (key, value) in section {
        match serde_json::to_value(&value) {
            Ok(json) if is_finite(&value) => {
                config.insert(key, json);
            }
            _ => refuse(&key, "it holds a number that is not finite".to_owned(), "write a finite number"),
        }
    }
    PluginSettings { enabled, sha256, grants, config }
}

/// JSON has neither infinity nor NaN, which TOML has.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Num(_, number) => number.to_f64().is_none_or(f64::is_finite),
        Value::Array(_, items) => items.iter().all(is_finite),
        Value::Dict(_, dict) => dict.values().all(is_finite),
        _ => true,
    }
}

/// A value for a message. Shows text: no caller passes the text of a secret.
fn describe(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("the text {text:?}"),
        Value::Char(_, text) => format!("the text {text:?}"),
        Value::Bool(_, truth) => truth.to_string(),
        Value::Num(_, number) => {
            let whole = number.to_i128().map(|whole| whole.to_string());
            let fraction = number.to_f64().map(|fraction| fraction.to_string());
            let text = whole.or_else(|| number.to_u128().map(|whole| whole.to_string())).or(fraction);
            format!("the number {}", text.unwrap_or_default())
        }
        Value::Empty(..) => "nothing".to_owned(),
        Value::Array(..) => "a list".to_owned(),
        Value::Dict(..) => "a section".to_owned(),
    }
}

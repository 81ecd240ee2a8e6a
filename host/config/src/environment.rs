//! The `GATEWAY_…` variables. Rule: the kind of the key decides how its text is read, so that text which looks like a number
//! stays text; a variable that sets no key is a problem.

use figment::value::{Dict, Value};

use super::{
    layer::Layer,
    problem::{Problem, Source},
    schema::{self, Leaf, Node, ValueKind},
    suggest,
    variable_name::{LEVEL_SEPARATOR, PREFIX, key_path},
};

const PLUGINS: &str = "plugins";

/// The variables of this process with the gateway's prefix. Bytes that are no UTF-8 become U+FFFD, which
/// [`read`] refuses.
pub(super) fn process_variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect()
}

/// One layer per variable, so that each value knows the variable it came from.
pub(super) fn read(variables: &[(String, String)], problems: &mut Vec<Problem>) -> Vec<Layer> {
    let mut layers = Vec::new();
    for (name, text) in variables {
        let Some(path) = key_path(name) else { continue };
        match read_value(name, &path, text) {
            Ok(value) => layers.push(Layer { source: Source::Environment(name.clone()), dict: nest(&path, value) }),
            Err((message, hint)) => {
                problems.push(Problem::new(path.join("."), Source::Environment(name.clone()), message, hint));
            }
        }
    }
    layers
}

fn read_value(name: &str, path: &[String], text: &str) -> Result<Value, (String, String)> {
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err(("its value is no UTF-8".to_owned(), "set it again".to_owned()));
    }
    match schema::root().find(path) {
        Some(Node::Leaf(leaf)) => parse_value(leaf, text),
        Some(Node::Section(_)) => Err(section_without_key(name)),
        None => read_plugin_value(name, path, text),
    }
}

/// `PLUGINS__<name>__enabled`, `…__sha256`, `…__grants` (divided by commas) and, with any depth, the plugin's own keys.
fn read_plugin_value(name: &str, path: &[String], text: &str) -> Result<Value, (String, String)> {
    match path {
        [first, _, _, ..] if first != PLUGINS => Err(unknown_variable(name, path, text)),
        _ if path.iter().any(String::is_empty) => Err(unknown_variable(name, path, text)),
        [_, _, key] if key == "enabled" => parse_boolean(text),
        [_, _, key] if key == "sha256" => Ok(Value::from(text)),
        [_, _, key] if key == "grants" => Ok(parse_list(text)),
        [_, _, _, ..] => Ok(infer_value(text)),
        _ => Err(unknown_variable(name, path, text)),
    }
}

fn unknown_variable(name: &str, path: &[String], text: &str) -> (String, String) {
    let hint = if is_service_link(name, text) {
        "Kubernetes sets it for a service of this name: put enableServiceLinks: false into the pod, or rename the service"
            .to_owned()
    } else {
        suggest::unknown_variable_hint(path)
    };
    ("no key belongs to this variable".to_owned(), hint)
}

/// Whether Kubernetes derived the variable from the name of a service.
fn is_service_link(name: &str, text: &str) -> bool {
    !name.contains(LEVEL_SEPARATOR)
        && (name.ends_with("_SERVICE_HOST")
            || name.contains("_SERVICE_PORT")
            || name.contains("_PORT_")
            || text.starts_with("tcp://")
            || text.starts_with("udp://"))
}

fn section_without_key(name: &str) -> (String, String) {
    ("it names a section, not a key".to_owned(), format!("add the key after two underscores: {name}__KEY"))
}

fn parse_value(leaf: &Leaf, text: &str) -> Result<Value, (String, String)> {
    let trimmed = text.trim();
    match leaf.kind {
        ValueKind::Text => Ok(Value::from(text)),
        ValueKind::List => Ok(parse_list(trimmed)),
        ValueKind::Boolean => parse_boolean(text),
        ValueKind::WholeNumber => {
            let unsigned = trimmed.parse::<u64>().map(Value::from);
            unsigned
                .or_else(|_too_small| trimmed.parse::<i64>().map(Value::from))
                .map_err(|_not_a_number| (format!("{text:?} is no whole number"), leaf.expected()))
        }
    }
}

fn parse_list(text: &str) -> Value {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    Value::from(items.map(ToOwned::to_owned).collect::<Vec<String>>())
}

fn parse_boolean(text: &str) -> Result<Value, (String, String)> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(Value::from(true)),
        "false" | "0" | "no" | "off" => Ok(Value::from(false)),
        _ => Err((format!("{text:?} is neither true nor false"), "expected: true or false".to_owned())),
    }
}

/// Of numbers that every program reads alike; amounts in wei are often above it, and are texts in JSON.
const WHOLE_NUMBER_MAX: u64 = (1 << 53) - 1;

/// The value of a plugin's own key, whose kind the gateway does not know: JSON where the text is valid JSON, else text. A number
/// above 2^53 - 1 is text, and so is any in double quotes.
fn infer_value(text: &str) -> Value {
    let json = serde_json::from_str::<serde_json::Value>(text).ok();
    let exact = json.filter(|value| match value {
        serde_json::Value::Number(number) => {
            let is_safe =
                number.is_f64() || number.as_i64().is_some_and(|whole| whole.unsigned_abs() <= WHOLE_NUMBER_MAX);
            is_safe && number.to_string() == text.trim()
        }
        serde_json::Value::Null => false,
        _ => true,
    });
    exact.and_then(|value| Value::serialize(value).ok()).unwrap_or_else(|| Value::from(text))
}

fn nest(path: &[String], value: Value) -> Dict {
    let nested = path.iter().rev().fold(value, |inner, name| Value::from(Dict::from([(name.clone(), inner)])));
    nested.into_dict().unwrap_or_default()
}

//! The tree of known keys, read from the JSON Schema of the configuration structs. Rule: there is no second list of keys.
//! Names, kinds, bounds and examples all come from the fields.

use std::{collections::BTreeMap, sync::LazyLock};

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::config::Config;

/// What a key holds.
pub(super) enum Node {
    Section(Section),
    Leaf(Leaf),
}

/// The keys of one `[name]`.
pub(super) struct Section {
    pub(super) keys: BTreeMap<String, Node>,
    /// The node of every other name, where the operator chooses the names (`[chains.<name>]`).
    additional: Option<Box<Node>>,
}

/// A key with a value.
pub(super) struct Leaf {
    pub(super) kind: ValueKind,
    pub(super) minimum: u64,
    pub(super) maximum: Option<u64>,
    /// Its value may hold a secret and is never shown.
    pub(super) is_secret: bool,
    choices: Vec<String>,
    example: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    WholeNumber,
    Boolean,
    List,
}

static ROOT: LazyLock<Section> = LazyLock::new(|| read_section(&json_schema()));

/// The top of the tree.
pub(super) fn root() -> &'static Section {
    &ROOT
}

/// The JSON Schema of the configuration, without references.
fn json_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Config>().to_value()
}

impl Config {
    /// The JSON Schema of the file.
    pub fn json_schema() -> Value {
        json_schema()
    }
}

impl Section {
    /// The node of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.keys.get(name).or(self.additional.as_deref())
    }

    /// The node at the end of a path.
    pub(super) fn find(&self, path: &[String]) -> Option<&Node> {
        let (first, rest) = path.split_first()?;
        match self.get(first)? {
            node if rest.is_empty() => Some(node),
            Node::Section(inner) => inner.find(rest),
            Node::Leaf(_) => None,
        }
    }

    /// The path of every key that holds a value.
    pub(super) fn leaf_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for (name, node) in &self.keys {
            match node {
                Node::Leaf(_) => paths.push(name.clone()),
                Node::Section(inner) => paths.extend(inner.leaf_paths().iter().map(|path| format!("{name}.{path}"))),
            }
        }
        paths
    }
}

impl Leaf {
    /// The values that the key accepts, for a hint.
    pub(super) fn expected(&self) -> String {
        let kind = match self.kind {
            ValueKind::Text if !self.choices.is_empty() => format!("one of {}", self.choices.join(", ")),
            ValueKind::Text => "text".to_owned(),
            ValueKind::Boolean => "true or false".to_owned(),
            ValueKind::List => "a list of texts".to_owned(),
            ValueKind::WholeNumber => match self.maximum {
                Some(maximum) => format!("a whole number from {} to {maximum}", self.minimum),
                None => format!("a whole number from {}", self.minimum),
            },
        };
        match &self.example {
            Some(example) => format!("expected: {kind}, such as {example}"),
            None => format!("expected: {kind}"),
        }
    }

    pub(super) fn choices(&self) -> &[String] {
        &self.choices
    }
}

fn read_section(schema: &Value) -> Section {
    let properties = schema.get("properties").and_then(Value::as_object);
    let keys = properties.into_iter().flatten().map(|(name, property)| (name.clone(), read_node(property))).collect();
    Section { keys, additional: additional_properties(schema).map(|schema| Box::new(read_node(schema))) }
}

fn read_node(schema: &Value) -> Node {
    let is_section = schema.get("properties").is_some() || additional_properties(schema).is_some();
    if is_section { Node::Section(read_section(schema)) } else { Node::Leaf(read_leaf(schema)) }
}

/// The schema of every value of a map.
fn additional_properties(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|values| values.is_object())
}

fn read_leaf(schema: &Value) -> Leaf {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let kind = match type_name(schema) {
        Some("integer") => ValueKind::WholeNumber,
        Some("boolean") => ValueKind::Boolean,
        Some("array") => ValueKind::List,
        _ => ValueKind::Text,
    };
    let list = |name: &str| schema.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    Leaf {
        kind,
        minimum: bound("minimum").unwrap_or(0),
        maximum: bound("maximum"),
        is_secret: schema.get("writeOnly") == Some(&Value::Bool(true)),
        choices: list("enum").iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        example: list("examples").first().map(plain_text),
    }
}

/// The type; an optional key also has the type `null`.
fn type_name(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        name => name.as_str(),
    }
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

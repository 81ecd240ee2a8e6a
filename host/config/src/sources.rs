//! The layer that set each key, so that problems found later (by a plugin, or a port that is taken) can name the file or
//! the variable to change.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use figment::{Figment, Metadata, value::Value};

use super::problem::Source;

/// The origin of every key that is not a default.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    keys: BTreeMap<String, Source>,
    file: Option<PathBuf>,
}

impl Sources {
    pub(super) fn new(figment: &Figment, merged: &Value, file: Option<PathBuf>) -> Self {
        let mut keys = BTreeMap::new();
        collect_sources(figment, merged, String::new(), &mut keys);
        Self { keys, file }
    }

    /// The layer that set a key, or else the first key below it.
    pub fn of(&self, key: &str) -> Source {
        let below = format!("{key}.");
        let first_below = || self.keys.range(below.clone()..).next().filter(|(name, _)| name.starts_with(&below));
        self.keys.get(key).or_else(|| first_below().map(|(_, source)| source)).cloned().unwrap_or(Source::Default)
    }

    /// The configuration file that was read, if there was one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

fn collect_sources(figment: &Figment, value: &Value, key: String, keys: &mut BTreeMap<String, Source>) {
    match value.as_dict() {
        Some(dict) => {
            for (name, inner) in dict {
                let path = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect_sources(figment, inner, path, keys);
            }
        }
        None => {
            if let Some(source) = figment.get_metadata(value.tag()).and_then(source_of) {
                keys.insert(key, source);
            }
        }
    }
}

fn source_of(metadata: &Metadata) -> Option<Source> {
    match metadata.source.as_ref()? {
        figment::Source::File(path) => Some(Source::File(path.clone())),
        figment::Source::Custom(name) if name.starts_with("--") => Some(Source::Flag(name.clone())),
        figment::Source::Custom(name) => Some(Source::Environment(name.clone())),
        _ => None,
    }
}

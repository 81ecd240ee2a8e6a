//! Which layer set which key, kept beside the values so that later problems (a plugin's own checks, a port that is taken)
//! can name the file or the variable to change.

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
    pub(super) fn read(figment: &Figment, merged: &Value, file: Option<PathBuf>) -> Self {
        let mut keys = BTreeMap::new();
        collect(figment, merged, String::new(), &mut keys);
        Self { keys, file }
    }

    /// Where a key, or else the first key below it, was set.
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

fn collect(figment: &Figment, value: &Value, key: String, keys: &mut BTreeMap<String, Source>) {
    match value.as_dict() {
        Some(dict) => {
            for (name, inner) in dict {
                let path = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect(figment, inner, path, keys);
            }
        }
        None => {
            if let Some(source) = figment.get_metadata(value.tag()).and_then(from_metadata) {
                keys.insert(key, source);
            }
        }
    }
}

fn from_metadata(metadata: &Metadata) -> Option<Source> {
    match metadata.source.as_ref()? {
        figment::Source::File(path) => Some(Source::File(path.clone())),
        figment::Source::Custom(name) if name.starts_with("--") => Some(Source::Flag(name.clone())),
        figment::Source::Custom(name) => Some(Source::Environment(name.clone())),
        _ => None,
    }
}

//! The configuration as it is in effect, key by key, with the layer that set each.
//!
//! The rule: no secret is in it. What may hold one says only that it is set.

use super::{config::Config, plugins::PluginSettings, problem::Source};
use serde::Serialize;
use serde_json::{Value, json};

/// One key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveValue {
    /// With dots: `http.listen`.
    pub key: String,
    /// Null when it is not set, or must not be shown.
    pub value: Value,
    pub source: Source,
    /// Whether it is set and must not be shown.
    pub is_hidden: bool,
}

impl Config {
    /// Every key that has a value or could have one, sorted.
    pub fn effective(&self) -> Vec<EffectiveValue> {
        let mut values = Vec::new();
        self.flatten(String::new(), &serde_json::to_value(self).unwrap_or_default(), &mut values);
        for (name, settings) in &self.plugins.sections {
            self.add_plugin(name, settings, &mut values);
        }
        let signers = self.signers.iter().filter(|(_, signer)| signer.key.is_some());
        let mut hidden: Vec<String> = signers.map(|(role, _)| format!("signers.{role}.key")).collect();
        let token = self.admin.token.as_ref().filter(|_| self.admin.token_file.is_none());
        hidden.extend(token.map(|_| "admin.token".to_owned()));
        hidden.extend(self.secrets.key.as_ref().map(|_| "secrets.key".to_owned()));
        hidden.extend((!self.secrets.old_keys.is_empty()).then(|| "secrets.old_keys".to_owned()));
        values.extend(hidden.into_iter().map(|key| {
            let variable = format!("GATEWAY_{}", key.to_uppercase().replace('.', "__"));
            EffectiveValue { key, value: Value::Null, source: Source::Environment(variable), is_hidden: true }
        }));
        for (key, is_set) in [
            ("database.url", self.database.url.is_some()),
            ("database.listen_url", self.database.listen_url.is_some()),
            ("database.read_urls", !self.database.read_urls.is_empty()),
        ] {
            self.add(key.to_owned(), Value::Null, is_set, &mut values);
        }
        // Providers put keys of their customers into these URLs.
        for (name, chain) in &self.chains {
            self.add(format!("chains.{name}.rpc"), Value::Null, !chain.rpc.is_empty(), &mut values);
        }
        values.sort_by(|one, other| one.key.cmp(&other.key));
        values
    }

    fn add(&self, key: String, value: Value, is_hidden: bool, values: &mut Vec<EffectiveValue>) {
        let source = self.sources.of(&key);
        values.push(EffectiveValue { key, value, source, is_hidden });
    }

    fn flatten(&self, key: String, value: &Value, values: &mut Vec<EffectiveValue>) {
        match value.as_object() {
            Some(members) => {
                for (name, inner) in members {
                    let path = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                    self.flatten(path, inner, values);
                }
            }
            None => self.add(key, value.clone(), false, values),
        }
    }

    /// What only the plugin reads may be a secret.
    fn add_plugin(&self, name: &str, settings: &PluginSettings, values: &mut Vec<EffectiveValue>) {
        let key = |setting: &str| format!("plugins.{name}.{setting}");
        let PluginSettings { enabled, sha256, grants, config } = settings;
        let known = [("enabled", json!(enabled)), ("sha256", json!(sha256)), ("grants", json!(grants))];
        for (setting, value) in known.into_iter().filter(|(_, value)| !value.is_null()) {
            self.add(key(setting), value, false, values);
        }
        for setting in config.keys() {
            self.add(key(setting), Value::Null, true, values);
        }
    }
}

//! `[secrets]`: the master keys from which the secrets of plugins are derived. Rule: a key comes from a file or from the
//! environment; it passes through no other part of the configuration, and nothing prints it.

use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::validator::Validator;

const KEY: &str = "GATEWAY_SECRETS__KEY";
const OLD_KEYS: &str = "GATEWAY_SECRETS__OLD_KEYS";

/// The master keys: the newest seals, each opens what it sealed.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretsConfig {
    /// File that holds the newest key, 64 hexadecimal digits; nobody but its owner may read it. Without it, and without
    /// `GATEWAY_SECRETS__KEY`, the key is `secrets.key` in `data_dir`, which is generated for a new database.
    #[schemars(example = "/run/secrets/secrets.key")]
    pub key_file: Option<PathBuf>,
    /// Files with older keys, which open what they sealed.
    pub old_key_files: Vec<PathBuf>,
    /// From `GATEWAY_SECRETS__KEY`.
    #[serde(skip)]
    pub key: Option<SecretString>,
    /// From `GATEWAY_SECRETS__OLD_KEYS`, divided by commas.
    #[serde(skip)]
    pub old_keys: Vec<SecretString>,
}

/// Whether the variable holds keys. Case does not matter, as for all variables.
pub(super) fn is_secrets_key(variable: &str) -> bool {
    [KEY, OLD_KEYS].iter().any(|name| variable.eq_ignore_ascii_case(name))
}

/// Removes the keys from the variables, before other code reads these.
pub(super) fn take_keys(variables: &mut Vec<(String, String)>) -> Vec<(String, SecretString)> {
    let keys = variables.extract_if(.., |(name, _)| is_secrets_key(name));
    keys.map(|(name, key)| (name, SecretString::from(key))).collect()
}

impl SecretsConfig {
    pub(super) fn assign_keys(&mut self, keys: Vec<(String, SecretString)>) {
        for (name, text) in keys {
            if name.eq_ignore_ascii_case(KEY) {
                self.key = Some(text);
            } else {
                let each = text.expose_secret().split(',').map(str::trim).filter(|key| !key.is_empty());
                self.old_keys = each.map(SecretString::from).collect();
            }
        }
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if self.key.is_some() && self.key_file.is_some() {
            validator.refuse("secrets.key_file", format!("{KEY} is set as well"), "keep one of the two");
        }
    }
}

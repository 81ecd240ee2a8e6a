//! `[signers.<role>]`: the keys that the gateway signs with. Rule: a key comes from a keystore file or from the environment;
//! it passes through no other part of the configuration, and nothing prints it.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{
    problem::{Problem, Source},
    validator::Validator,
};

/// The purposes of keys. Plugins ask for a role, never for a key.
pub const ROLES: [&str; 8] = ["gateway", "facilitator", "relayer", "growth", "payin", "oracle", "log", LOADTEST];

/// The role that has no key but the seed of many: the wallets of the load test, which nothing else signs with.
pub const LOADTEST: &str = "loadtest";

const PREFIX: &str = "GATEWAY_SIGNERS__";
const SUFFIX: &str = "__KEY";

/// The key of one role.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignerConfig {
    /// Web3 keystore file (version 3) that holds the key.
    #[schemars(example = "/run/secrets/facilitator.json")]
    pub keystore: Option<PathBuf>,
    /// File that holds the password of the keystore; nobody but its owner may read it.
    #[schemars(example = "/run/secrets/facilitator.password")]
    pub password_file: Option<PathBuf>,
    /// From `GATEWAY_SIGNERS__<ROLE>__KEY`.
    #[serde(skip)]
    pub key: Option<SecretString>,
}

/// Removes the keys from the variables, before other code reads these.
pub(super) fn take_keys(variables: &mut Vec<(String, String)>) -> Vec<(String, SecretString)> {
    let (keys, others) = std::mem::take(variables).into_iter().partition(|(name, _)| role_of(name).is_some());
    *variables = others;
    let keys: Vec<(String, String)> = keys;
    keys.into_iter().map(|(name, key)| (name, SecretString::from(key))).collect()
}

/// Whether the variable holds a key.
pub(super) fn is_signer_key(variable: &str) -> bool {
    role_of(variable).is_some()
}

/// Case does not matter, as for all variables.
fn role_of(variable: &str) -> Option<String> {
    Some(variable.to_uppercase().strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.to_lowercase())
}

/// Gives each role its key; a key of an unknown role is a problem.
pub(super) fn assign_keys(
    signers: &mut BTreeMap<String, SignerConfig>,
    keys: Vec<(String, SecretString)>,
    problems: &mut Vec<Problem>,
) {
    for (name, key) in keys {
        let role = role_of(&name).unwrap_or_default();
        if ROLES.contains(&role.as_str()) {
            signers.entry(role).or_default().key = Some(key);
        } else {
            let source = Source::Environment(name);
            problems.push(Problem::new(format!("signers.{role}"), source, "there is no such role", roles_hint()));
        }
    }
}

fn roles_hint() -> String {
    format!("the roles are {}", ROLES.join(", "))
}

impl SignerConfig {
    /// As if the key came from the environment; for tests.
    pub fn with_key(key: impl Into<String>) -> Self {
        Self { key: Some(SecretString::from(key.into())), ..Self::default() }
    }

    pub(super) fn validate(&self, role: &str, validator: &mut Validator<'_>) {
        let key = format!("signers.{role}");
        if !ROLES.contains(&role) {
            return validator.refuse(&key, "there is no such role".to_owned(), roles_hint());
        }
        match (&self.keystore, &self.password_file, &self.key) {
            (Some(_), Some(_), None) | (None, None, Some(_) | None) => {}
            (Some(_), None, None) => {
                let hint = "name the file that holds the keystore's password";
                validator.refuse(&format!("{key}.password_file"), "it is missing".to_owned(), hint);
            }
            (None, Some(_), None) => {
                let hint = "name the keystore that the password opens";
                validator.refuse(&format!("{key}.keystore"), "it is missing".to_owned(), hint);
            }
            (_, _, Some(_)) => {
                let variable = format!("{PREFIX}{}{SUFFIX}", role.to_uppercase());
                validator.refuse(&key, format!("{variable} is set as well"), "keep one of the two");
            }
        }
    }
}

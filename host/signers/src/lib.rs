//! Keys, by role. The rule: a key never leaves this folder; who signs hands over what shall be signed and gets a signature.

mod capability;
mod generated;
mod key;
mod keystore;
mod private_file;

pub use capability::check_grant;
pub use key::{BadKey, Key};

use alloy_primitives::Address;
use gateway_config::{Config, ROLES, SignerConfig};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// The role whose key the gateway makes for itself when none is set.
pub const GATEWAY: &str = "gateway";

/// The keys that this gateway has, and why it does not have the others.
#[derive(Debug, Default)]
pub struct Signers {
    by_role: BTreeMap<String, Signer>,
}

/// What became of one role.
#[derive(Clone, Debug)]
enum Signer {
    Ready {
        key: Arc<Key>,
        source: KeySource,
    },
    Off {
        reason: String,
        /// It is configured, and cannot be used.
        is_fault: bool,
    },
}

/// Where a key came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    Environment,
    Keystore(PathBuf),
    /// Made by a gateway and kept in this file; `is_new`: at this start.
    Generated {
        path: PathBuf,
        is_new: bool,
    },
}

/// A role without a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no key for the role {role}: {reason}")]
pub struct NoKey {
    pub role: String,
    pub reason: String,
}

impl Signers {
    /// Opens what is configured. What cannot be opened is off, with the reason in the log; the gateway starts all the same.
    /// Takes a second or so for each keystore: that is how their passwords are protected.
    pub fn open(config: &mut Config) -> Self {
        let open = |role: &str| {
            let settings = config.signers.get_mut(role).map(std::mem::take).unwrap_or_default();
            let signer = match read(settings) {
                Ok(Some((key, source))) => Signer::Ready { key: Arc::new(key), source },
                Ok(None) if role == GATEWAY => gateway_key(&config.data_dir),
                Ok(None) => Signer::Off { reason: missing(role), is_fault: false },
                Err(reason) => Signer::Off { reason, is_fault: true },
            };
            signer.note(role);
            (role.to_owned(), signer)
        };
        Self { by_role: ROLES.into_iter().map(open).collect() }
    }

    pub fn key(&self, role: &str) -> Result<Arc<Key>, NoKey> {
        match self.by_role.get(role) {
            Some(Signer::Ready { key, .. }) => Ok(key.clone()),
            Some(Signer::Off { reason, .. }) => Err(NoKey { role: role.to_owned(), reason: reason.clone() }),
            None => Err(NoKey { role: role.to_owned(), reason: "there is no such role".to_owned() }),
        }
    }

    /// The address that stands for the gateway's own word.
    pub fn gateway(&self) -> Option<Address> {
        self.key(GATEWAY).ok().map(|key| key.address())
    }

    pub fn source(&self, role: &str) -> Option<&KeySource> {
        match self.by_role.get(role)? {
            Signer::Ready { source, .. } => Some(source),
            Signer::Off { .. } => None,
        }
    }

    /// Roles whose keys are configured and cannot be used, with the reason.
    pub fn faults(&self) -> Vec<String> {
        let faults = self.by_role.iter().filter_map(|(role, signer)| match signer {
            Signer::Off { reason, is_fault: true } => Some(format!("{role}: {reason}")),
            _ => None,
        });
        faults.collect()
    }

    /// Roles with their keys. Two roles may share one.
    pub fn ready(&self) -> impl Iterator<Item = (&str, &Arc<Key>)> {
        self.by_role.iter().filter_map(|(role, signer)| match signer {
            Signer::Ready { key, .. } => Some((role.as_str(), key)),
            Signer::Off { .. } => None,
        })
    }
}

impl Signer {
    fn note(&self, role: &str) {
        match self {
            Self::Ready { key, source: KeySource::Generated { path, is_new: true } } => tracing::warn!(
                role, address = %key.address(), file = %path.display(),
                "no key is set for this role: a new one was made and is kept in the file; back it up"
            ),
            Self::Ready { key, .. } => tracing::info!(role, address = %key.address(), "the gateway has a key"),
            Self::Off { is_fault: false, .. } => {}
            Self::Off { reason, .. } => tracing::error!(role, reason, "a key cannot be used; what needs it is off"),
        }
    }
}

fn missing(role: &str) -> String {
    format!("none is set; name a keystore in [signers.{role}], or set GATEWAY_SIGNERS__{}__KEY", role.to_uppercase())
}

fn read(settings: SignerConfig) -> Result<Option<(Key, KeySource)>, String> {
    if let Some(text) = settings.key {
        let key = Key::from_hex(&text).map_err(|error| format!("the key in the environment is not valid: {error}"))?;
        return Ok(Some((key, KeySource::Environment)));
    }
    match (settings.keystore, settings.password_file) {
        (Some(path), Some(password_file)) => {
            Ok(Some((keystore::open(&path, &password_file)?, KeySource::Keystore(path))))
        }
        _ => Ok(None),
    }
}

fn gateway_key(data_dir: &std::path::Path) -> Signer {
    let path = data_dir.join("gateway.key");
    match generated::open_or_make(&path) {
        Ok((key, is_new)) => Signer::Ready { key: Arc::new(key), source: KeySource::Generated { path, is_new } },
        Err(reason) => Signer::Off { reason, is_fault: true },
    }
}

#[cfg(test)]
mod tests;

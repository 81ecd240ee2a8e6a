//! Which keys two configurations differ in. Rule: secrets are compared and never returned.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::config::Config;

impl Config {
    /// The keys whose values differ. A section `[plugins.NAME]` counts as one key.
    pub fn changed_keys(&self, other: &Self) -> Vec<String> {
        let (ours, theirs) = (self.leaves(), other.leaves());
        let mut changed: BTreeSet<String> =
            ours.keys().chain(theirs.keys()).filter(|key| ours.get(*key) != theirs.get(*key)).cloned().collect();
        let (ours, theirs) = (self.secrets(), other.secrets());
        changed.extend(ours.keys().chain(theirs.keys()).filter(|key| ours.get(*key) != theirs.get(*key)).cloned());
        changed.into_iter().collect()
    }

    /// Every value that is no secret, by its key.
    fn leaves(&self) -> BTreeMap<String, Value> {
        let mut leaves = BTreeMap::new();
        collect("", serde_json::to_value(self).unwrap_or_default(), &mut leaves);
        leaves
    }

    fn secrets(&self) -> BTreeMap<String, Vec<String>> {
        let exposed =
            |secrets: &[SecretString]| secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect();
        let one = |secret: &Option<SecretString>| exposed(secret.as_slice());
        let mut secrets = BTreeMap::from([
            ("database.url".to_owned(), one(&self.database.url)),
            ("database.listen_url".to_owned(), one(&self.database.listen_url)),
            ("database.read_urls".to_owned(), exposed(&self.database.read_urls)),
        ]);
        for (name, chain) in &self.chains {
            secrets.insert(format!("chains.{name}.rpc"), exposed(&chain.rpc));
            secrets.insert(format!("chains.{name}.ws"), one(&chain.ws));
        }
        for (role, signer) in &self.signers {
            secrets.insert(format!("signers.{role}"), one(&signer.key));
        }
        secrets.insert("secrets.key".to_owned(), one(&self.secrets.key));
        secrets.insert("secrets.old_keys".to_owned(), exposed(&self.secrets.old_keys));
        for (name, section) in &self.plugins.sections {
            // Only the plugin knows which of its values are secrets.
            let values = format!("{:?} {}", section, Value::Object(section.config.clone()));
            secrets.insert(format!("plugins.{name}"), vec![values]);
        }
        secrets
    }
}

fn collect(key: &str, value: Value, leaves: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let key = if key.is_empty() { name } else { format!("{key}.{name}") };
                collect(&key, value, leaves);
            }
        }
        leaf => {
            leaves.insert(key.to_owned(), leaf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainConfig, PluginSettings, SignerConfig};

    #[test]
    fn every_kind_of_key_is_compared() {
        let before = Config::default();
        assert_eq!(before.changed_keys(&before.clone()), Vec::<String>::new());
        let mut after = before.clone();
        after.limits.per_ip_per_minute = 7;
        after.log.level = "debug".to_owned();
        after.database.url = Some("postgres://u:hunter2@h/d".into());
        after.database.listen_url = Some("postgres://u:hunter2@h/e".into());
        after.database.read_urls = vec!["postgres://u:hunter2@h/f".into()];
        let chain = ChainConfig { rpc: vec!["http://node/hunter2".into()], ..ChainConfig::default() };
        after.chains.insert("main".to_owned(), chain);
        after.signers.insert("oracle".to_owned(), SignerConfig::with_key("hunter2"));
        after.secrets.key = Some("hunter2".into());
        after.secrets.old_keys = vec!["hunter2".into()];
        after.plugins.sections.insert("hello".to_owned(), PluginSettings::default());
        let changed = before.changed_keys(&after);
        for key in [
            "limits.per_ip_per_minute",
            "log.level",
            "database.url",
            "database.listen_url",
            "database.read_urls",
            "chains.main.rpc",
            "signers.oracle",
            "secrets.key",
            "secrets.old_keys",
            "plugins.hello",
        ] {
            assert!(changed.iter().any(|changed| changed == key), "{key}: {changed:?}");
        }
        assert!(!changed.concat().contains("hunter2"));
        assert_eq!(changed, after.changed_keys(&before));
    }
}

//! `[plugins]` and `[plugins.<name>]`. Rule: the gateway reads `enabled`, `sha256` and `grants` of a plugin's section. Every other key
//! is passed to the plugin unread and may be a secret, so its value is never printed here.

use std::{collections::BTreeMap, fmt, io, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::validator::{self, Validator};

/// Plugins: where they are, which are on, and when one is taken off.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PluginsConfig {
    /// Folder with the plugin libraries; without it the folder of the running binary.
    #[schemars(example = "./plugins")]
    pub dir: Option<PathBuf>,
    /// Whether a plugin is on that no section mentions.
    pub default_enabled: bool,
    /// Plugins that must serve: the gateway does not start without them, and is not ready while one is off.
    #[schemars(example = ["agents", "activity"])]
    pub required: Vec<String>,
    /// Whether the gateway does not start when any plugin that is on fails to serve.
    pub strict: bool,
    /// Faults (panics, hangs) within `fence_window_s` after which an operation is paused; with three of them the plugin is fenced.
    #[schemars(range(min = 1))]
    pub fence_faults: u32,
    /// Time in which faults are counted together.
    #[schemars(range(min = 1, max = 86_400))]
    pub fence_window_s: u64,
    /// Time for a plugin to construct itself. The others start meanwhile.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub constructor_timeout_ms: u64,
    /// Memory of the process in MiB above which a warning names the calls of plugins in progress; 0: 80 % of what the machine or
    /// the container has.
    pub memory_warn_mib: u64,
    /// The sections `[plugins.<name>]`.
    #[serde(skip)]
    pub sections: BTreeMap<String, PluginSettings>,
}

/// One section `[plugins.<name>]`.
#[derive(Clone, Default)]
pub struct PluginSettings {
    /// On or off; without it `plugins.default_enabled` decides.
    pub enabled: Option<bool>,
    /// The only content hash that is loaded, as 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// What the operator lets it have: `egress`, `chain:NAME`, `all_chains`, `signer:ROLE`, `secrets`, `raw_calls`, `files`,
    /// `view:NAME`, `action:NAME`, `event:TYPE`.
    pub grants: Option<Vec<String>>,
    /// Every other key, for the plugin.
    pub config: Map<String, Value>,
}

impl fmt::Debug for PluginSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.config.keys().collect();
        f.debug_struct("PluginSettings")
            .field("enabled", &self.enabled)
            .field("sha256", &self.sha256)
            .field("grants", &self.grants)
            .field("config_keys", &keys)
            .finish()
    }
}

impl Default for PluginsConfig {
    fn default() -> Self {
        Self {
            dir: None,
            default_enabled: true,
            required: Vec::new(),
            strict: false,
            fence_faults: 20,
            fence_window_s: 60,
            constructor_timeout_ms: 10_000,
            memory_warn_mib: 0,
            sections: BTreeMap::new(),
        }
    }
}

impl PluginsConfig {
    /// The folder to look for plugins in.
    pub fn folder(&self) -> io::Result<PathBuf> {
        if let Some(dir) = &self.dir {
            return Ok(dir.clone());
        }
        let mut folder = std::env::current_exe()?;
        folder.pop();
        Ok(folder)
    }

    /// Whether the configuration enables the plugin.
    pub fn is_enabled(&self, name: &str) -> bool {
        self.sections.get(name).and_then(|settings| settings.enabled).unwrap_or(self.default_enabled)
    }

    /// The section `[plugins.<name>]`; all defaults when it is missing.
    pub fn settings(&self, name: &str) -> PluginSettings {
        self.sections.get(name).cloned().unwrap_or_default()
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        let off = self.required.iter().filter(|name| !self.is_enabled(name));
        for name in off {
            validator.refuse(
                "plugins.required",
                format!("{name} is switched off"),
                format!("enable plugins.{name}, or remove it from the list"),
            );
        }
        if let Some(dir) = &self.dir {
            validator.check_readable_folder("plugins.dir", dir);
        }
        for (name, settings) in &self.sections {
            if !validator::is_section_name(name) {
                validator.refuse(
                    &format!("plugins.{name}"),
                    format!("{name:?} cannot be the name of a plugin"),
                    "names are lower-case letters, digits and single underscores, beginning with a letter",
                );
            }
            if settings.sha256.as_deref().is_some_and(|pin| !is_sha256(pin)) {
                validator.refuse(
                    &format!("plugins.{name}.sha256"),
                    "it is no SHA-256 of a file".to_owned(),
                    "write the 64 lower-case hexadecimal digits that sha256sum prints",
                );
            }
            for grant in settings.grants.iter().flatten().filter(|grant| !PluginSettings::is_grant(grant)) {
                validator.refuse(
                    &format!("plugins.{name}.grants"),
                    format!("{grant:?} is no grant"),
                    "write egress, chain:NAME, all_chains, signer:ROLE, secrets, raw_calls, files, view:NAME, action:NAME or event:TYPE, as \
                     `gateway plugins list` shows what a plugin asks for",
                );
            }
        }
    }
}

impl PluginSettings {
    /// Whether the section may name this grant: what it is called, not whether a plugin asks for it.
    pub fn is_grant(grant: &str) -> bool {
        let after = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| grant.strip_prefix(prefix));
        let (name, own_name) = (after(&["chain:", "signer:", "view:"]), after(&["action:", "event:"]));
        let is_plain = ["all_chains", "egress", "files", "raw_calls", "secrets"].contains(&grant);
        is_plain || name.is_some_and(validator::is_section_name) || own_name.is_some_and(is_dotted_name)
    }
}

/// As of actions and event types.
fn is_dotted_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && name.bytes().all(is_letter)
}

fn is_sha256(pin: &str) -> bool {
    pin.len() == 64 && pin.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

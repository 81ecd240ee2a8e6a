//! A plugin whose library is mapped and whose manifest was checked; nothing of it runs yet.

use super::{
    inspect::{InspectError, Inspection, PluginFile},
    library_probe::{ProbeError, probe_in_subprocess},
    load::{self, reason_line},
    load_error::LoadError,
    release,
    validate::validate_manifest,
};
use crate::{
    bounds::{MANIFEST_BYTES_MAX, excess},
    plugin::PluginState,
};
use gateway_config::PluginsConfig;
use plugin_api::{
    abi::{Fault, FaultKind, FfiBytes, PluginModule_Ref},
    manifest::Manifest,
};
use std::{path::Path, sync::Arc, time::Duration};

pub struct LoadedPlugin {
    /// None for a plugin that is linked into the process.
    pub inspection: Option<Inspection>,
    pub manifest: Arc<Manifest>,
    pub module: PluginModule_Ref,
    /// Whether it came with this gateway, and so gets what it asks for unless the configuration says otherwise.
    pub is_released: bool,
}

/// Why a plugin cannot run: one line that says what was found, what was expected, what to do.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error("plugin {name} {error}")]
    Load { name: String, error: LoadError },
    #[error("plugin {name} {error}: report it to the plugin's author")]
    Probe { name: String, error: ProbeError },
    #[error("plugin {name} failed to describe itself ({fault}): report it to the plugin's author")]
    ManifestFault { name: String, fault: String },
    #[error("plugin {name} gave a manifest that is no manifest ({reason}): rebuild it with plugin_api::export_plugin!")]
    ManifestForm { name: String, reason: String },
    #[error("plugin {name} has a wrong manifest: {}", problems.join("; "))]
    Manifest { name: String, problems: Vec<String> },
}

impl PluginError {
    /// What the plugin is in the report because of this.
    pub fn state(&self) -> PluginState {
        match self {
            Self::Load { error: LoadError::NeedsRestart { .. }, .. } => PluginState::NeedsRestart,
            Self::ManifestFault { .. } | Self::Probe { .. } => PluginState::Failed,
            _ => PluginState::Refused,
        }
    }
}

impl LoadedPlugin {
    /// Maps the inspected file and asks it for its manifest.
    pub fn load(file: &PluginFile, data_dir: &Path) -> Result<Self, PluginError> {
        let inspection = file.inspection.clone();
        let name = inspection.name.clone();
        let failed = |error| PluginError::Load { name: name.clone(), error };
        let module = load::load(file, data_dir).map_err(failed)?;
        let manifest = manifest_of(module, &name)?;
        validate_manifest(&manifest, Some((&name, &inspection.version)))
            .map_err(|problems| PluginError::Manifest { name: name.clone(), problems })?;
        load::claim(&inspection).map_err(failed)?;
        let is_released = release::is_released(&inspection);
        Ok(Self { inspection: Some(inspection), manifest: Arc::new(manifest), module, is_released })
    }

    /// Tries the library in a process of its own, unless it came with this gateway. To be called before [`Self::load`].
    pub(super) fn probe(file: &PluginFile, data_dir: &Path, limit: Duration) -> Result<(), PluginError> {
        let inspection = &file.inspection;
        if release::is_released(inspection) || load::is_loaded(inspection) {
            return Ok(());
        }
        probe_in_subprocess(file, data_dir, limit)
            .map_err(|error| PluginError::Probe { name: inspection.name.clone(), error })
    }

    /// A plugin that is linked into this process instead of loaded from a file, as tests do.
    pub fn linked(module: PluginModule_Ref) -> Result<Self, PluginError> {
        let manifest = manifest_of(module, "linked into the gateway")?;
        validate_manifest(&manifest, None)
            .map_err(|problems| PluginError::Manifest { name: manifest.name.clone(), problems })?;
        Ok(Self { inspection: None, manifest: Arc::new(manifest), module, is_released: true })
    }

    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// Whether the configuration enables it.
    pub fn is_enabled(&self, config: &PluginsConfig) -> bool {
        let chosen = config.sections.get(self.name()).and_then(|section| section.enabled);
        chosen.unwrap_or(config.default_enabled && !self.manifest.off_by_default)
    }

    pub fn sha256(&self) -> Option<&str> {
        self.inspection.as_ref().map(|inspection| inspection.sha256.as_str())
    }
}

fn manifest_of(module: PluginModule_Ref, name: &str) -> Result<Manifest, PluginError> {
    let document: Result<FfiBytes, Fault> = module.manifest()().into_result();
    let document = document
        .map_err(|fault| PluginError::ManifestFault { name: name.to_owned(), fault: describe_fault(&fault) })?;
    let wrong_form = |reason: String| PluginError::ManifestForm { name: name.to_owned(), reason };
    if let Some(reason) = excess("it", document.len(), MANIFEST_BYTES_MAX) {
        return Err(wrong_form(reason));
    }
    serde_json::from_slice(&document).map_err(|error| wrong_form(reason_line(&error.to_string())))
}

/// A fault as part of a line: `panic at src/lib.rs:3:5: boom`.
fn describe_fault(fault: &Fault) -> String {
    let kind = match fault.kind {
        FaultKind::Error | FaultKind::Source => "error",
        FaultKind::Panic => "panic",
        FaultKind::Config => "configuration",
    };
    let place = if fault.location.is_empty() { String::new() } else { format!(" at {}", fault.location) };
    reason_line(&format!("{kind}{place}: {}", fault.message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use plugin_api::{
        abi::{HostBox, PluginBox, PluginModule},
        abi_stable::{
            prefix_type::PrefixTypeTrait,
            std_types::{RResult, RString},
        },
    };

    extern "C" fn no_construct(_: HostBox, _: FfiBytes) -> RResult<PluginBox, Fault> {
        RResult::RErr(fault("not in this test"))
    }

    fn fault(message: &str) -> Fault {
        Fault { kind: FaultKind::Error, message: message.into(), location: RString::new() }
    }

    fn linked(manifest: extern "C" fn() -> RResult<FfiBytes, Fault>) -> Result<LoadedPlugin, PluginError> {
        LoadedPlugin::linked(PluginModule { manifest, construct: no_construct }.leak_into_prefix())
    }

    #[test]
    fn a_linked_plugin_has_no_file() {
        extern "C" fn manifest() -> RResult<FfiBytes, Fault> {
            RResult::ROk(r#"{"name": "forum", "version": "1.2.3", "unknown_to_this_gateway": 1}"#.into())
        }
        let plugin = linked(manifest).unwrap();
        assert_eq!((plugin.name(), plugin.manifest.version.as_str(), plugin.sha256()), ("forum", "1.2.3", None));
    }

    #[test]
    fn a_manifest_that_is_too_large_is_refused() {
        extern "C" fn large() -> RResult<FfiBytes, Fault> {
            RResult::ROk(" ".repeat(MANIFEST_BYTES_MAX + 1).into())
        }
        extern "C" fn as_large_as_it_may_be() -> RResult<FfiBytes, Fault> {
            let manifest = r#"{"name": "forum", "version": "1.2.3"}"#;
            RResult::ROk(format!("{manifest}{}", " ".repeat(MANIFEST_BYTES_MAX - manifest.len())).into())
        }
        let error = linked(large).err().unwrap();
        let bound = format!("it has {} bytes, at most {MANIFEST_BYTES_MAX}", MANIFEST_BYTES_MAX + 1);
        assert!(error.to_string().contains(&bound), "{error}");
        assert_eq!(error.state(), PluginState::Refused);
        assert_eq!(linked(as_large_as_it_may_be).unwrap().name(), "forum");
    }

    #[test]
    fn a_fault_a_wrong_form_and_a_wrong_manifest_are_one_line_each() {
        extern "C" fn fails() -> RResult<FfiBytes, Fault> {
            RResult::RErr(fault("two\nlines"))
        }
        extern "C" fn no_json() -> RResult<FfiBytes, Fault> {
            RResult::ROk("{\n\"name\":".into())
        }
        extern "C" fn wrong() -> RResult<FfiBytes, Fault> {
            RResult::ROk(r#"{"name": "Forum", "version": ""}"#.into())
        }
        let cases: [(extern "C" fn() -> RResult<FfiBytes, Fault>, &str, PluginState); 3] = [
            (fails, "error: two lines", PluginState::Failed),
            (no_json, "EOF while parsing", PluginState::Refused),
            (wrong, "name `Forum`", PluginState::Refused),
        ];
        for (manifest, part, state) in cases {
            let error = linked(manifest).err().unwrap();
            let text = error.to_string();
            assert!(text.contains(part) && text.lines().count() == 1, "{text}");
            assert_eq!(error.state(), state, "{text}");
        }
    }
}

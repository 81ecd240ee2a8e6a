//! `gateway plugins list | inspect`: looks at files; runs nothing of a plugin but its own description of itself.

use super::{failure, printed};
use crate::{
    cli::{ExitCode, Output},
    config::Config,
    plugins::{self, PluginReport, PluginState},
};
use serde_json::json;
use std::path::Path;

pub fn list(output: Output, config: &Config) -> ExitCode {
    let loaded = match plugins::load_folder(config) {
        Ok(loaded) => loaded,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    let reports: Vec<PluginReport> = loaded
        .into_iter()
        .map(|outcome| outcome.map_or_else(|report| *report, |plugin| preview(config, &plugin)))
        .collect();
    let is_refused = reports.iter().any(PluginReport::is_setback);
    let code = if is_refused { ExitCode::Plugin } else { ExitCode::Ok };
    printed(output.print(&reports, |_| plugins::report::table(&reports)), code)
}

/// What the plugin would be if the gateway started now.
fn preview(config: &Config, plugin: &plugins::LoadedPlugin) -> PluginReport {
    let mut report = PluginReport::of_loaded(plugin, PluginState::Stopped);
    if config.plugins.is_enabled(plugin.name()) {
        report.reason = "enabled; serves when the gateway runs".into();
    } else {
        (report.state, report.reason) = (PluginState::Disabled, "switched off in the configuration".into());
    }
    report
}

pub fn file(output: Output, path: &Path) -> ExitCode {
    match plugins::inspect(path, None) {
        Ok(inspection) => {
            let (major, minor) = inspection.abi;
            let facts = json!({
                "name": inspection.name,
                "version": inspection.version,
                "pluginApi": format!("{major}.{minor}"),
                "sha256": inspection.sha256,
                "bytes": inspection.bytes,
                "path": inspection.path,
            });
            let human = |_| {
                format!(
                    "name        {}\nversion     {}\nplugin API  {major}.{minor}\nsha256      {}\nsize        {} bytes\n",
                    inspection.name, inspection.version, inspection.sha256, inspection.bytes
                )
            };
            printed(output.print(&facts, human), ExitCode::Ok)
        }
        Err(error) => failure(ExitCode::Plugin, &error),
    }
}

//! `gateway plugins list | inspect`: looks at files; runs nothing of a plugin but its own description of itself.

use super::exit::{failure, printed};
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway::operators::{Operators, Switches};
use gateway_config::{Config, DatabaseTarget};
use gateway_plugins::{PluginReport, PluginState};
use gateway_storage::{Database, StorageError};
use serde_json::json;
use std::path::Path;

pub async fn list(output: Output, config: &Config) -> ExitCode {
    let loaded = match gateway_plugins::load_folder(config) {
        Ok(loaded) => loaded,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    // The list is useful without the operators' decisions, too.
    let switches = switches(config).await.unwrap_or_else(|error| {
        eprintln!("gateway: what operators switched cannot be read, so this is what the configuration says: {error}");
        Switches::new()
    });
    let reports: Vec<PluginReport> = loaded
        .into_iter()
        .map(|outcome| outcome.map_or_else(|report| *report, |plugin| preview(config, &switches, &plugin)))
        .collect();
    let is_refused = reports.iter().any(PluginReport::is_failure);
    let code = if is_refused { ExitCode::Plugin } else { ExitCode::Ok };
    printed(output.print(&reports, |_| crate::plugin_table::plugin_table(&reports)), code)
}

/// The operators' decisions. A database that does not exist yet is not created for a list.
async fn switches(config: &Config) -> Result<Switches, StorageError> {
    let settings = gateway::database_settings(config).map_err(|error| StorageError::Internal(error.to_string()))?;
    if let Ok(DatabaseTarget::Sqlite(path)) = config.database_target()
        && !path.is_file()
    {
        return Ok(Switches::new());
    }
    let database = Database::open(settings).await?;
    let switches = Operators::new(database.clone()).switches_if_any().await;
    database.close().await;
    switches
}

/// What the plugin would be if the gateway started now.
fn preview(config: &Config, switches: &Switches, plugin: &gateway_plugins::LoadedPlugin) -> PluginReport {
    let mut report = PluginReport::of_loaded(plugin, PluginState::Stopped);
    let is_enabled = plugin.is_enabled(&config.plugins);
    let (state, reason) = match switches.get(plugin.name()) {
        Some(true) => (PluginState::Stopped, gateway::lifecycle::ON_BY_OPERATOR),
        Some(false) => (PluginState::Disabled, gateway::lifecycle::OFF_BY_OPERATOR),
        None if is_enabled => (PluginState::Stopped, "enabled; serves when the gateway runs"),
        None => (PluginState::Disabled, gateway::lifecycle::OFF_BY_CONFIGURATION),
    };
    (report.state, report.reason) = (state, reason.to_owned());
    let settings = config.plugins.settings(plugin.name());
    if state == PluginState::Stopped
        && let Some(reason) = gateway_plugins::missing_consent(plugin, &settings)
    {
        (report.state, report.reason) = (PluginState::Failed, reason);
    }
    report
}

pub fn file(output: Output, path: &Path) -> ExitCode {
    match gateway_plugins::inspect(path, None) {
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

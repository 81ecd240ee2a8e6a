//! `gateway plugins list`: what the running gateway says, or without one what the folder, the configuration and the database say.
//!
//! The rule: the words say which of the two it is.

use super::admin_client::{AdminAddressError, from_config, from_flag};
use super::exit::{failure, printed};
use super::runtime::with_runtime;
use crate::arguments::PluginList;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::plugin_details::PluginDetails;
use crate::plugin_table::plugin_table;
use gateway::lifecycle::{OFF_BY_CONFIGURATION, OFF_BY_OPERATOR, ON_BY_OPERATOR, gone_report};
use gateway::operators::{Operators, Switches};
use gateway_admin::client::{AdminClient, ClientError};
use gateway_config::{Config, DatabaseTarget, Overrides};
use gateway_plugins::{LoadedPlugin, PluginReport, PluginState};
use gateway_storage::{Database, PluginObjects, StorageError, ViewNames};
use std::collections::BTreeMap;

const FALLBACK_NOTE: &str = "this is what a start would find";

/// Lists what the running gateway says; `None` when none was found.
pub(crate) fn of_running_gateway(output: Output, list: &PluginList, overrides: &Overrides) -> Option<ExitCode> {
    let client = match &list.admin {
        Some(url) => match from_flag(url, overrides) {
            Ok(client) => client,
            Err(error) => return Some(failure(ExitCode::Usage, &error)),
        },
        // Problems of the configuration are told by who reads it next.
        None => match from_config(&Config::load(overrides).ok()?) {
            Ok(client) => client,
            Err(AdminAddressError::Off) => {
                return note("the operator's listener is off (admin.listen), so no gateway is asked");
            }
            Err(AdminAddressError::Tls(error)) => return note(&error.to_string()),
            Err(_) => return note("admin.listen has port 0, so no gateway is asked without --admin http://IP:PORT"),
        },
    };
    match ask(&client) {
        Ok(reports) => {
            eprintln!("gateway: this is what the gateway at {} says", client.url());
            Some(print_reports(output, list.name.as_deref(), &reports))
        }
        Err(RequestFailure::NoRuntime(code)) => Some(code),
        Err(RequestFailure::Reason(reason)) if list.admin.is_some() => Some(failure(ExitCode::Failure, &reason)),
        Err(RequestFailure::Reason(reason)) => note(&reason),
    }
}

fn note(reason: &str) -> Option<ExitCode> {
    eprintln!("gateway: {reason}: {FALLBACK_NOTE}");
    None
}

enum RequestFailure {
    Reason(String),
    NoRuntime(ExitCode),
}

fn ask(client: &AdminClient) -> Result<Vec<PluginReport>, RequestFailure> {
    let answer = with_runtime(client.get("/plugins")).map_err(RequestFailure::NoRuntime)?;
    let answer = answer.map_err(|error| match error {
        ClientError::NotThere { source, .. } => {
            RequestFailure::Reason(format!("no gateway answers at {} ({source})", client.url()))
        }
        error => RequestFailure::Reason(error.to_string()),
    })?;
    serde_json::from_value(answer.body).map_err(|_other| {
        RequestFailure::Reason(format!("what answers at {} is no gateway of this version", client.url()))
    })
}

/// What a start would find.
pub(crate) async fn of_folder(output: Output, config: &Config, name: Option<&str>) -> ExitCode {
    let loaded = match gateway_plugins::load_folder(config) {
        Ok(loaded) => loaded,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    let names: Vec<String> = loaded
        .iter()
        .map(|outcome| outcome.as_ref().map_or_else(|report| report.name.clone(), |plugin| plugin.name().to_owned()))
        .collect();
    // The list is useful without the database, too.
    let stored = stored(config, &names).await.unwrap_or_else(|error| {
        eprintln!("gateway: the database cannot be read, so this is what folder and configuration say: {error}");
        StoredPlugins::default()
    });
    let mut reports: Vec<PluginReport> = loaded
        .into_iter()
        .map(|outcome| outcome.map_or_else(|report| *report, |plugin| preview(config, &stored, &plugin)))
        .collect();
    reports.extend(stored.gone);
    reports.sort_by(|one, other| one.name.cmp(&other.name));
    print_reports(output, name, &reports)
}

/// All of them, or one.
fn print_reports(output: Output, name: Option<&str>, reports: &[PluginReport]) -> ExitCode {
    let code = |is_refused: bool| if is_refused { ExitCode::Plugin } else { ExitCode::Ok };
    let Some(name) = name else {
        let code = code(reports.iter().any(PluginReport::is_failure));
        return printed(output.print(&reports, |_| plugin_table(reports)), code);
    };
    match reports.iter().find(|report| report.name == name) {
        Some(report) => {
            let text = |_| PluginDetails::of_report(report).into_text();
            printed(output.print(report, text), code(report.is_failure()))
        }
        None => failure(
            ExitCode::Plugin,
            &format!("there is no plugin {name:?}: `gateway plugins list` names those that are there"),
        ),
    }
}

/// What the database says about plugins.
#[derive(Default)]
struct StoredPlugins {
    switches: Switches,
    /// By plugin, how many migrations were applied.
    migrations: BTreeMap<String, usize>,
    /// The plugins that are not in the folder.
    gone: Vec<PluginReport>,
}

/// A database that does not exist yet is not created for a list.
async fn stored(config: &Config, names: &[String]) -> Result<StoredPlugins, StorageError> {
    let settings = gateway::database_settings(config).map_err(|error| StorageError::Internal(error.to_string()))?;
    if let Ok(DatabaseTarget::Sqlite(path)) = config.database_target()
        && !path.is_file()
    {
        return Ok(StoredPlugins::default());
    }
    let database = Database::open(settings).await?;
    let stored = read(&database, names).await;
    database.close().await;
    stored
}

async fn read(database: &Database, names: &[String]) -> Result<StoredPlugins, StorageError> {
    let mut stored = StoredPlugins {
        switches: Operators::new(database.clone()).switches_if_any().await?,
        ..StoredPlugins::default()
    };
    for migration in database.migration_status(None).await? {
        *stored.migrations.entry(migration.plugin).or_default() += 1;
    }
    for (name, count) in stored.migrations.iter().filter(|(name, _)| *name != "host" && !names.contains(name)) {
        let objects = PluginObjects::of(database, name, &ViewNames::new()).await?;
        stored.gone.push(gone_report(name, &objects.tables, *count));
    }
    Ok(stored)
}

/// What the plugin would be if the gateway started now.
fn preview(config: &Config, stored: &StoredPlugins, plugin: &LoadedPlugin) -> PluginReport {
    let mut report = PluginReport::of_loaded(plugin, PluginState::Stopped);
    report.migrations_applied = stored.migrations.get(plugin.name()).copied().unwrap_or_default();
    let is_enabled = plugin.is_enabled(&config.plugins);
    let (state, reason) = match stored.switches.get(plugin.name()) {
        Some(true) => (PluginState::Stopped, ON_BY_OPERATOR),
        Some(false) => (PluginState::Disabled, OFF_BY_OPERATOR),
        None if is_enabled => (PluginState::Stopped, "enabled; serves when the gateway runs"),
        None => (PluginState::Disabled, OFF_BY_CONFIGURATION),
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

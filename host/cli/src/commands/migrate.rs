//! `gateway migrate`: brings the schema up to date without serving, for operators who deploy in two steps.

use super::audit;
use super::exit::{failure, printed};
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway::operators::{Operators, Switches};
use gateway_config::Config;
use gateway_plugins::LoadedPlugin;
use gateway_storage::{Database, MigrationSet, Scope, StorageError, ViewNames};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct MigrationLine {
    plugin: String,
    applied: usize,
    problem: Option<String>,
}

pub(crate) async fn run(output: Output, config: Config) -> ExitCode {
    let loaded = match gateway_plugins::load_folder(&config) {
        Ok(loaded) => loaded,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    let settings = match gateway::database_settings(&config) {
        Ok(settings) => settings,
        Err(error) => return failure(ExitCode::Config, &error),
    };
    if let Err(error) = std::fs::create_dir_all(&config.data_dir) {
        return failure(ExitCode::Failure, &error);
    }
    let database = match Database::open(settings).await {
        Ok(database) => database,
        Err(error) => return failure(ExitCode::Database, &error),
    };
    let mut lines = vec![line("host", gateway::migrations::migrate(&database).await)];
    let switches = match Operators::new(database.clone()).switches_if_any().await {
        Ok(switches) => switches,
        Err(error) => return failure(ExitCode::Database, &error),
    };
    for plugin in loaded.iter().flatten().filter(|plugin| is_on(&config, &switches, plugin)) {
        let views = Arc::new(gateway::lifecycle::readable_views(loaded.iter().flatten(), &plugin.manifest));
        lines.push(line(plugin.name(), migrate(&database, plugin, views).await));
    }
    if let Some(outcome) = outcome(&lines) {
        audit::record(&database, "migrate", "", &outcome).await;
    }
    database.close().await;
    let code = if lines.iter().any(|line| line.problem.is_some()) { ExitCode::Database } else { ExitCode::Ok };
    printed(output.print(&lines, |_| text(&lines)), code)
}

pub(super) fn is_on(config: &Config, switches: &Switches, plugin: &LoadedPlugin) -> bool {
    switches.get(plugin.name()).copied().unwrap_or_else(|| plugin.is_enabled(&config.plugins))
}

async fn migrate(database: &Database, plugin: &LoadedPlugin, views: Arc<ViewNames>) -> Result<usize, StorageError> {
    let manifest = &plugin.manifest;
    let migrations = MigrationSet {
        scope: &Scope::plugin(&manifest.name, views),
        views: &manifest.views,
        migrations: &manifest.migrations,
    };
    let report = database.migrate(&migrations).await?;
    Ok(report.applied.len())
}

fn line(plugin: &str, outcome: Result<usize, StorageError>) -> MigrationLine {
    match outcome {
        Ok(applied) => MigrationLine { plugin: plugin.to_owned(), applied, problem: None },
        Err(error) => MigrationLine { plugin: plugin.to_owned(), applied: 0, problem: Some(error.to_string()) },
    }
}

/// The text for the audit; `None` when no migration was applied or failed.
fn outcome(lines: &[MigrationLine]) -> Option<String> {
    let failed: Vec<&str> =
        lines.iter().filter(|line| line.problem.is_some()).map(|line| line.plugin.as_str()).collect();
    match (lines.iter().map(|line| line.applied).sum(), failed.as_slice()) {
        (0, []) => None,
        (applied, []) => Some(format!("{applied} applied")),
        (applied, failed) => Some(format!("{applied} applied; failed: {}", failed.join(", "))),
    }
}

fn text(lines: &[MigrationLine]) -> String {
    let one = |line: &MigrationLine| match (&line.problem, line.applied) {
        (Some(problem), _) => format!("{}: {problem}", line.plugin),
        (None, 0) => format!("{}: up to date", line.plugin),
        (None, applied) => format!("{}: {applied} applied", line.plugin),
    };
    lines.iter().map(one).collect::<Vec<_>>().join("\n")
}

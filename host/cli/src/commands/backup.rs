//! `gateway backup` and `gateway restore`: beside the running gateway, and in the place of one that is stopped.

use super::audit;
use super::exit::{failure, printed};
use crate::arguments::BackupFile;
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway_clock::Clock;
use gateway_config::{Config, DatabaseTarget};
use gateway_plugins::LoadedPlugin;
use gateway_storage::{
    BackupError, BackupManifest, BackupOrigin, Database, DatabaseSettings, MigrationSet, RestoreRequest, Scope,
};
use jiff::Timestamp;
use serde_json::json;
use std::{path::Path, sync::Arc};

pub(crate) async fn back_up(output: Output, config: &Config, copy: &BackupFile) -> ExitCode {
    let settings = match gateway::database_settings(config) {
        Ok(settings) => settings,
        Err(error) => return failure(ExitCode::Config, &error),
    };
    if let Ok(DatabaseTarget::Sqlite(path)) = config.database_target()
        && !path.is_file()
    {
        let error = format!("there is no database at {}: nothing to back up", path.display());
        return failure(ExitCode::Database, &error);
    }
    let database = match Database::open(settings).await {
        Ok(database) => database,
        Err(error) => return failure(ExitCode::Database, &error),
    };
    let origin = BackupOrigin { gateway_version: env!("CARGO_PKG_VERSION"), created_ms: Clock::System.now_ms() };
    let outcome = database.back_up(&copy.file, copy.force, origin).await;
    let said = outcome
        .as_ref()
        .map_or_else(|error| format!("failed: {error}"), |manifest| format!("{} bytes", manifest.bytes));
    audit::record(&database, "backup", &name(&copy.file), &said).await;
    let name = database.dialect().name();
    database.close().await;
    match outcome {
        Ok(BackupManifest { bytes, sha256, .. }) => {
            let facts = json!({ "file": copy.file, "bytes": bytes, "sha256": sha256, "database": name });
            let line = |_| format!("{}: {bytes} bytes, a checked copy of the {name} database", copy.file.display());
            printed(output.print(&facts, line), ExitCode::Ok)
        }
        Err(error) => failed(&error),
    }
}

pub(crate) async fn restore(output: Output, config: &Config, copy: &BackupFile) -> ExitCode {
    let settings = match gateway::database_settings(config) {
        Ok(settings) => settings,
        Err(error) => return failure(ExitCode::Config, &error),
    };
    let loaded = match gateway_plugins::load_folder(config) {
        Ok(loaded) => loaded,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    let plugins: Vec<&LoadedPlugin> = loaded.iter().flatten().collect();
    let views = Arc::new(gateway::lifecycle::published_views(plugins.iter().copied()));
    let scopes: Vec<Scope> = plugins.iter().map(|plugin| Scope::plugin(plugin.name(), views.clone())).collect();
    let (own, own_views) = (gateway::migrations::migrations(), gateway::views::views());
    let mut known = vec![MigrationSet { scope: &Scope::Host, views: &own_views, migrations: &own }];
    known.extend(plugins.iter().zip(&scopes).map(|(plugin, scope)| schema(plugin, scope)));
    let now_ms = Clock::System.now_ms();
    let label = label(now_ms);
    let request = RestoreRequest {
        settings: &settings,
        file: &copy.file,
        overwrite: copy.force,
        label: &label,
        now_ms,
        schemas: &known,
    };
    let restored = match gateway_storage::restore(&request).await {
        Ok(restored) => restored,
        Err(error) => return failed(&error),
    };
    record_restored(settings.clone(), &copy.file).await;
    let facts = json!({
        "file": copy.file,
        "kept": restored.old_data,
        "unknownPlugins": restored.unknown_plugins,
        "checksumVerified": restored.has_manifest,
    });
    let lines = |_| {
        let kept = restored.old_data.iter().map(|kept| format!("\nthe old data is kept: {kept}"));
        let unknown = restored.unknown_plugins.iter().map(|plugin| {
            format!("\n{plugin} has data in it and is not in the folder of the plugins: the data waits for it")
        });
        let rest: String = kept.chain(unknown).collect();
        let checksum =
            if restored.has_manifest { "" } else { "\nno manifest is beside it: its checksum was not compared" };
        format!("restored {}{checksum}{rest}", copy.file.display())
    };
    printed(output.print(&facts, lines), ExitCode::Ok)
}

fn schema<'a>(plugin: &'a LoadedPlugin, scope: &'a Scope) -> MigrationSet<'a> {
    MigrationSet { scope, views: &plugin.manifest.views, migrations: &plugin.manifest.migrations }
}

/// As part of a name: 20261121T161500123Z.
fn label(now_ms: i64) -> String {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    now.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}

async fn record_restored(settings: DatabaseSettings, file: &Path) {
    match Database::open(settings).await {
        Ok(database) => {
            audit::record(&database, "restore", &name(file), "restored").await;
            database.close().await;
        }
        Err(error) => audit::not_recorded(&error),
    }
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn failed(error: &BackupError) -> ExitCode {
    failure(if error.is_about_database() { ExitCode::Database } else { ExitCode::Failure }, error)
}

//! `gateway plugins purge`: says what a plugin that is gone left in the database, asks, and drops it.
//!
//! The rule: a gateway that runs does it itself, so that it cannot serve the plugin meanwhile. Without one, nobody else may use
//! the database.

use super::admin_client::{AdminAddressError, from_config, from_flag};
use super::audit;
use super::exit::{config_problems, failure, printed};
use super::operate::refusal;
use super::runtime::with_runtime;
use crate::arguments::PluginPurge;
use crate::exit_code::ExitCode;
use crate::output::{Output, printable};
use gateway::lifecycle::published_views;
use gateway::operators::{Purge, PurgeError, PurgePlan};
use gateway_admin::client::{AdminClient, ClientError, ClientResponse};
use gateway_clock::Clock;
use gateway_config::{Config, DatabaseTarget, Overrides};
use gateway_plugins::PluginFolder;
use gateway_storage::{Database, StorageError, ViewNames};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal as _, Write as _};

/// Of a command that did not do what was asked.
type FailureCode = ExitCode;

pub(crate) fn run(output: Output, purge: &PluginPurge, overrides: &Overrides) -> ExitCode {
    let ended = match client(purge, overrides) {
        Ok(Some(client)) => by_gateway(output, purge, &client, overrides),
        Ok(None) => without_gateway(output, purge, overrides),
        Err(code) => Err(code),
    };
    ended.unwrap_or_else(|code| code)
}

/// Where a gateway may run; `None` when the configuration does not say.
fn client(purge: &PluginPurge, overrides: &Overrides) -> Result<Option<AdminClient>, FailureCode> {
    if let Some(url) = &purge.target.admin {
        return from_flag(url, overrides).map(Some).map_err(|error| failure(ExitCode::Usage, &error));
    }
    let config = Config::load(overrides).map_err(|problems| config_problems(&problems))?;
    match from_config(&config) {
        Ok(client) => Ok(Some(client)),
        Err(AdminAddressError::Off | AdminAddressError::NoPort) => Ok(None),
        Err(error) => Err(failure(ExitCode::Config, &error)),
    }
}

fn by_gateway(
    output: Output,
    purge: &PluginPurge,
    client: &AdminClient,
    overrides: &Overrides,
) -> Result<ExitCode, FailureCode> {
    let path = format!("/plugins/{}/purge", purge.target.name);
    let plan = match with_runtime(client.get(&path))? {
        // An address that was named must answer.
        Err(ClientError::NotThere { .. }) if purge.target.admin.is_none() => {
            return without_gateway(output, purge, overrides);
        }
        answer => plan_of(answer)?,
    };
    confirm(output, purge, &plan)?;
    let purged = plan_of(with_runtime(client.post(&path))?)?;
    Ok(print_purged(output, &purged))
}

fn plan_of(answer: Result<ClientResponse, ClientError>) -> Result<PurgePlan, FailureCode> {
    let answer = answer.map_err(|error| failure(ExitCode::Failure, &error))?;
    let code = match answer.status.as_u16() {
        200 => {
            let other = |_| failure(ExitCode::Failure, &"the gateway answers as no gateway of this version does");
            return serde_json::from_value(answer.body).map_err(other);
        }
        404 | 409 => ExitCode::Plugin,
        _ => ExitCode::Failure,
    };
    Err(failure(code, &refusal(answer.status.as_u16(), &answer.body)))
}

fn without_gateway(output: Output, purge: &PluginPurge, overrides: &Overrides) -> Result<ExitCode, FailureCode> {
    let config = Config::load(overrides).map_err(|problems| config_problems(&problems))?;
    let published = views_of_folder(&config, &purge.target.name)?;
    with_runtime(async {
        let database = open_alone(&config).await?;
        let ended = with_database(output, purge, &database, &published).await;
        database.close().await;
        ended
    })?
}

/// The views of the plugins in the folder, which this one must not be in.
fn views_of_folder(config: &Config, name: &str) -> Result<ViewNames, FailureCode> {
    let refused = |error: &dyn std::fmt::Display| failure(ExitCode::Plugin, &error.to_string());
    let mut folder = PluginFolder::of(config).map_err(|error| refused(&error))?;
    if folder.has(name).map_err(|error| refused(&error))? {
        return Err(refused(&format!("{name} is not gone: its file is in the folder of the plugins")));
    }
    let loaded = folder.changes(config, None).map_err(|error| refused(&error))?.outcomes;
    Ok(published_views(loaded.iter().flatten()))
}

/// Opens the database, unless a gateway has it open.
async fn open_alone(config: &Config) -> Result<Database, FailureCode> {
    let settings = gateway::database_settings(config).map_err(|error| failure(ExitCode::Config, &error))?;
    if let Ok(DatabaseTarget::Sqlite(path)) = config.database_target()
        && !path.is_file()
    {
        return Err(failure(ExitCode::Database, &format!("there is no database at {}", path.display())));
    }
    let database_failure = |error: StorageError| failure(ExitCode::Database, &error);
    if gateway_storage::is_in_use(&settings).await.map_err(database_failure)? {
        let error = "the database is in use, and no gateway answers at its operator's listener: name that with --admin \
                     http://IP:PORT, or stop the gateway";
        return Err(failure(ExitCode::Database, &error));
    }
    Database::open_as_gateway(settings).await.map_err(database_failure)
}

async fn with_database(
    output: Output,
    purge: &PluginPurge,
    database: &Database,
    published: &ViewNames,
) -> Result<ExitCode, FailureCode> {
    let name = &purge.target.name;
    let of_plugin = |error: PurgeError| {
        let code = if matches!(error, PurgeError::Storage(_)) { ExitCode::Database } else { ExitCode::Plugin };
        failure(code, &error)
    };
    let work = Purge { database, published, now_ms: Clock::System.now_ms(), is_shared: false };
    let plan = work.plan(name).await.map_err(of_plugin)?;
    confirm(output, purge, &plan)?;
    let purged = work.run(name, &audit::who()).await.map_err(of_plugin)?;
    Ok(print_purged(output, &purged))
}

/// Prints what would be dropped and why it cannot be, or asks; an error ends the command.
fn confirm(output: Output, purge: &PluginPurge, plan: &PurgePlan) -> Result<(), FailureCode> {
    if !plan.obstacles.is_empty() {
        let said = plan.obstacles.iter().map(|obstacle| printable(obstacle)).collect::<Vec<_>>().join("\ngateway: ");
        return Err(failure(ExitCode::Plugin, &said));
    }
    if purge.yes {
        return Ok(());
    }
    let print = |is_purged: bool| output.print(&json!({ "purged": is_purged, "plan": plan }), |_| text(plan));
    if output == Output::Json || !io::stdin().is_terminal() {
        printed(print(false), ExitCode::Ok);
        return Err(failure(ExitCode::Usage, &"nothing was dropped: say --yes if you mean it"));
    }
    printed(print(false), ExitCode::Ok);
    eprint!("Type {} to drop all this for good: ", plan.plugin);
    // A prompt that cannot be shown is not answered.
    let _ = io::stderr().flush();
    if is_confirmed(&mut io::stdin().lock(), &plan.plugin) {
        return Ok(());
    }
    Err(failure(ExitCode::Failure, &"nothing was dropped"))
}

/// Whether the next line is the name.
fn is_confirmed(input: &mut impl BufRead, name: &str) -> bool {
    let mut line = String::new();
    input.read_line(&mut line).is_ok() && line.trim_end_matches(['\n', '\r']) == name
}

fn print_purged(output: Output, purged: &PurgePlan) -> ExitCode {
    let line = |_| {
        let (tables, views) = (purged.tables.len(), purged.views.len());
        format!("{}: dropped {} and {}", purged.plugin, counted(tables, "table"), counted(views, "view"))
    };
    printed(output.print(&json!({ "purged": true, "plan": purged }), line), ExitCode::Ok)
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// What would be dropped, and what stays.
fn text(plan: &PurgePlan) -> String {
    let mut lines = vec![format!("{} left in the database:", plan.plugin)];
    let width = plan.tables.iter().map(|table| table.table.len()).max().unwrap_or_default();
    lines.extend(
        plan.tables.iter().map(|table| format!("  table         {:width$}  {}", table.table, table.row_count())),
    );
    let lists = [
        ("view", &plan.views),
        ("search index", &plan.search_indexes),
        ("trigger", &plan.triggers),
        ("job", &plan.jobs),
    ];
    for (kind, names) in lists {
        lines.extend(names.iter().map(|name| format!("  {kind:13} {}", printable(name))));
    }
    lines.push(format!("  {}", counted(plan.migrations, "applied migration")));
    if plan.has_index {
        lines.push("  its index of the chain".to_owned());
    }
    if plan.kept_transactions > 0 {
        let kept = counted(usize::try_from(plan.kept_transactions).unwrap_or(usize::MAX), "transaction");
        lines.push(format!("What it published stays in the activity log, and {kept} in the journal."));
    } else {
        lines.push("What it published stays in the activity log.".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway::operators::TableRows;

    #[test]
    fn only_the_name_itself_confirms() {
        for (typed, is_meant) in
            [("forum\n", true), ("forum", true), ("forum\r\n", true), ("y\n", false), ("", false), ("forums\n", false)]
        {
            assert_eq!(is_confirmed(&mut typed.as_bytes(), "forum"), is_meant, "{typed:?}");
        }
    }

    #[test]
    fn what_would_be_dropped_is_listed() {
        let table = |table: &str, rows, has_more| TableRows { table: table.to_owned(), rows, has_more };
        let plan = PurgePlan {
            plugin: "forum".into(),
            tables: vec![table("forum_posts", 100_000, true), table("forum_threads", 1, false)],
            views: vec!["forum_threads_v1".into()],
            jobs: vec!["prune".into()],
            migrations: 3,
            kept_transactions: 2,
            ..PurgePlan::default()
        };
        let expected = "forum left in the database:\n\
                        \x20 table         forum_posts    more than 100000 rows\n\
                        \x20 table         forum_threads  1 row\n\
                        \x20 view          forum_threads_v1\n\
                        \x20 job           prune\n\
                        \x20 3 applied migrations\n\
                        What it published stays in the activity log, and 2 transactions in the journal.";
        assert_eq!(text(&plan), expected);
    }
}

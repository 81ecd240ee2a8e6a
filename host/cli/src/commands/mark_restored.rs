//! `gateway mark-restored`: records that another program has put an older database there, such as the recovery of a server to a point
//! in time. `gateway restore` records that itself.
//!
//! The rule: no gateway has the database open, because what plugins know of a restore does not change while they run.

use super::audit;
use super::exit::{failure, printed};
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway_clock::Clock;
use gateway_config::{Config, DatabaseTarget};
use gateway_storage::{Database, StorageError};
use serde_json::json;

pub(crate) async fn run(output: Output, config: &Config) -> ExitCode {
    let settings = match gateway::database_settings(config) {
        Ok(settings) => settings,
        Err(error) => return failure(ExitCode::Config, &error),
    };
    if let Ok(DatabaseTarget::Sqlite(path)) = config.database_target()
        && !path.is_file()
    {
        return failure(ExitCode::Database, &format!("there is no database at {}", path.display()));
    }
    match gateway_storage::is_in_use(&settings).await {
        Ok(false) => {}
        Ok(true) => return failure(ExitCode::Database, &"a gateway has the database open: stop it first"),
        Err(error) => return failure(ExitCode::Database, &error),
    }
    let database = match Database::open_as_gateway(settings).await {
        Ok(database) => database,
        Err(error) => return failure(ExitCode::Database, &error),
    };
    let marked = mark(&database).await;
    if marked.is_ok() {
        audit::record(&database, "mark-restored", "", "marked").await;
    }
    database.close().await;
    match marked {
        Ok(now_ms) => {
            let line = |_| "the database is marked as restored now".to_owned();
            printed(output.print(&json!({ "restoredMs": now_ms }), line), ExitCode::Ok)
        }
        Err(error) => failure(ExitCode::Database, &error),
    }
}

async fn mark(database: &Database) -> Result<i64, StorageError> {
    // An older database may not have the table.
    gateway::migrations::migrate(database).await?;
    let now_ms = Clock::System.now_ms();
    gateway_storage::record_restore(database, now_ms).await?;
    Ok(now_ms)
}

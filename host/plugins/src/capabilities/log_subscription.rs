//! Subscriptions of plugins to the activity log: where each one is, and what comes next.
//!
//! The rule: a subscription moves on in the transaction of what the plugin made of its events, and only from where they began. So
//! every event is handled once, whatever crashes, and whoever else runs the same subscription.

use gateway_activity::ActivityLog;
use gateway_storage::{Database, StorageError};
use plugin_api::{
    Sql,
    abi::{HostError, HostErrorCode, Statement, StatementResult},
    manifest::{LogBatch, LogBatchCall, LogDoneCall, MigrationSpec},
    sql,
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const TABLE: &str = "
CREATE TABLE host_log_subscriptions (
    plugin TEXT NOT NULL,
    name TEXT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (plugin, name)
);
";

pub fn log_subscriptions_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "log_subscriptions", TABLE)
}

/// Deletes where the subscriptions of a plugin are.
pub fn forget_log_subscriptions(plugin: &str) -> Statement {
    sql("DELETE FROM host_log_subscriptions WHERE plugin = $1").bind(plugin).into()
}

const WAIT_MAX: Duration = Duration::from_secs(30);

/// How long a batch that is not full waits for more events, so that what followers cost does not grow with how often something is
/// written.
const GATHER: Duration = Duration::from_millis(100);

/// The next events of a subscription. Waits for some, for as long as the plugin asks and does not stop. A subscription that is new
/// begins at the end of the log.
pub(crate) async fn next_batch(
    database: &Database,
    log: &ActivityLog,
    plugin: &str,
    stop: &CancellationToken,
    call: LogBatchCall,
) -> Result<LogBatch, HostError> {
    let mut wake = log.subscribe();
    let position = position(database, log, plugin, &call.subscription).await?;
    let deadline = tokio::time::sleep(Duration::from_millis(call.wait_ms).min(WAIT_MAX));
    tokio::pin!(deadline);
    // Events up to here are of other types: they are read once, not with every write until one comes that is wanted.
    let mut passed = position;
    let mut has_gathered = false;
    loop {
        wake.mark_unchanged();
        let (events, up_to) = log.events_after(passed, &call.types).await?;
        let (is_stopping, is_late) = (stop.is_cancelled(), deadline.is_elapsed());
        if events.len() >= ActivityLog::PAGE_ROWS as usize
            || (has_gathered && !events.is_empty())
            || is_stopping
            || is_late
        {
            if events.is_empty() {
                advance(database, plugin, &call.subscription, position, up_to).await?;
            }
            return Ok(LogBatch { after: position, up_to, events, is_stopping });
        }
        if events.is_empty() {
            passed = up_to;
            tokio::select! {
                changed = wake.changed() => changed.map_err(|_| HostError::new(HostErrorCode::Closed, "the log is closed"))?,
                () = stop.cancelled() => continue,
                () = &mut deadline => continue,
            }
        }
        tokio::select! {
            () = tokio::time::sleep(GATHER) => has_gathered = true,
            () = stop.cancelled() => {}
        }
    }
}

/// Moves a subscription over events that it does not want, so that the next run does not read them again. Another gateway may
/// have moved it meanwhile.
async fn advance(database: &Database, plugin: &str, name: &str, from: i64, to: i64) -> Result<(), HostError> {
    if to > from {
        database.execute(moved(plugin, name, from, to)).await?;
    }
    Ok(())
}

fn moved(plugin: &str, name: &str, from: i64, to: i64) -> Sql {
    sql("UPDATE host_log_subscriptions SET position = $4 WHERE plugin = $1 AND name = $2 AND position = $3")
        .bind(plugin)
        .bind(name)
        .bind(from)
        .bind(to)
}

async fn position(database: &Database, log: &ActivityLog, plugin: &str, name: &str) -> Result<i64, HostError> {
    if let Some(position) = stored_position(database, plugin, name).await? {
        return Ok(position);
    }
    let latest_id = log.latest_id().await?;
    let begin = sql("INSERT INTO host_log_subscriptions (plugin, name, position) VALUES ($1, $2, $3) \
         ON CONFLICT (plugin, name) DO NOTHING")
    .bind(plugin)
    .bind(name)
    .bind(latest_id);
    database.execute(begin).await?;
    // Another gateway may have been first.
    Ok(stored_position(database, plugin, name).await?.unwrap_or(latest_id))
}

async fn stored_position(database: &Database, plugin: &str, name: &str) -> Result<Option<i64>, HostError> {
    let select = sql("SELECT position FROM host_log_subscriptions WHERE plugin = $1 AND name = $2");
    let positions: Vec<i64> = database.fetch_all(select.bind(plugin).bind(name)).await?;
    Ok(positions.into_iter().next())
}

/// Moves the subscription on, within the transaction whose statements `run` executes.
pub(crate) async fn mark_done<F>(
    plugin: &str,
    call: LogDoneCall,
    run: impl FnOnce(Vec<Statement>) -> F,
) -> Result<(), HostError>
where
    F: Future<Output = Result<Vec<StatementResult>, StorageError>>,
{
    let LogDoneCall { subscription, after, up_to } = call;
    let advance = moved(plugin, &subscription, after, up_to.max(after));
    let changes: u64 = run(vec![advance.into()]).await?.iter().map(|result| result.changes).sum();
    if changes == 1 {
        return Ok(());
    }
    let message = format!("these events of the subscription {subscription} are done already");
    Err(HostError::new(HostErrorCode::Constraint, message))
}

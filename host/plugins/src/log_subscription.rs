//! Subscriptions of plugins to the activity log: where each one is, and what comes next.
//!
//! The rule: a subscription moves on in the transaction of what the plugin made of its events, and only from where they began. So
//! every event is handled once, whatever crashes, and whoever else runs the same subscription.

use crate::HostContext;
use gateway_activity::ActivityLog;
use gateway_storage::{CommitStatement, Database, Scope, StorageError};
use plugin_api::{
    abi::{HostError, HostErrorCode, Statement, StatementResult},
    manifest::{LogBatch, LogBatchCall, LogDoneCall},
    sql,
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub const MIGRATION: &str = "
CREATE TABLE host_log_subscriptions (
    plugin TEXT NOT NULL,
    name TEXT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (plugin, name)
);
";

/// Deletes where the subscriptions of a plugin are, whose name is plain.
pub fn forget(plugin: &str) -> String {
    format!("DELETE FROM host_log_subscriptions WHERE plugin = '{plugin}'")
}

const WAIT_MAX: Duration = Duration::from_secs(30);

/// The next events of a subscription. Waits for some, for as long as the plugin asks and does not stop. A subscription that is new
/// begins at the end of the log.
pub async fn next_batch(
    host: &HostContext,
    plugin: &str,
    stop: &CancellationToken,
    call: LogBatchCall,
) -> Result<LogBatch, HostError> {
    let log = &host.activity;
    let mut wake = log.subscribe();
    let position = position(&host.database, log, plugin, &call.subscription).await?;
    let deadline = tokio::time::sleep(Duration::from_millis(call.wait_ms).min(WAIT_MAX));
    tokio::pin!(deadline);
    loop {
        let (events, up_to) = log.events_after(position, &call.types).await?;
        let is_over = !events.is_empty() || stop.is_cancelled() || deadline.is_elapsed();
        if is_over {
            return Ok(LogBatch { after: position, up_to, events, is_stopping: stop.is_cancelled() });
        }
        tokio::select! {
            changed = wake.changed() => changed.map_err(|_| HostError::new(HostErrorCode::Closed, "the log is closed"))?,
            () = stop.cancelled() => {}
            () = &mut deadline => {}
        }
    }
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
    database.begin(Scope::Host).commit(vec![CommitStatement::new(begin.into())]).await?;
    // Another gateway may have been first.
    Ok(stored_position(database, plugin, name).await?.unwrap_or(latest_id))
}

async fn stored_position(database: &Database, plugin: &str, name: &str) -> Result<Option<i64>, HostError> {
    let select = sql("SELECT position FROM host_log_subscriptions WHERE plugin = $1 AND name = $2");
    let rows = database.read(&Scope::Host, select.bind(plugin).bind(name).into()).await?;
    let positions: Vec<i64> = plugin_api::host::decode_rows(&rows)?;
    Ok(positions.into_iter().next())
}

/// Moves the subscription on, within the transaction whose statements `run` executes.
pub async fn mark_done<F>(
    plugin: &str,
    call: LogDoneCall,
    run: impl FnOnce(Vec<Statement>) -> F,
) -> Result<(), HostError>
where
    F: Future<Output = Result<Vec<StatementResult>, StorageError>>,
{
    let LogDoneCall { subscription, after, up_to } = call;
    let advance =
        sql("UPDATE host_log_subscriptions SET position = $4 WHERE plugin = $1 AND name = $2 AND position = $3")
            .bind(plugin)
            .bind(subscription.as_str())
            .bind(after)
            .bind(up_to.max(after));
    let moved: u64 = run(vec![advance.into()]).await?.iter().map(|result| result.changes).sum();
    if moved == 1 {
        return Ok(());
    }
    let message = format!("these events of the subscription {subscription} are done already");
    Err(HostError::new(HostErrorCode::Constraint, message))
}

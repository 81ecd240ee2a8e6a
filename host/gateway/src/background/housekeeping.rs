//! The gateway's own periodic work: deletes old signatures and idle rate limits, compacts counts, listens to other
//! replicas.

use crate::routes::RouteTable;
use gateway_activity::ActivityLog;
use gateway_clock::Clock;
use gateway_plugins::FORGET_ATTEMPTS;
use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError};
use plugin_api::{abi::Statement, sql};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const INTERVAL: Duration = Duration::from_secs(60);
/// Between two polls of the log while PostgreSQL cannot notify us.
const POLL: Duration = Duration::from_millis(500);
/// How long the time of a wallet's last write is kept: as long as `limits.write_interval_ms` may be.
const WRITE_TIME_KEPT_S: i64 = 3600;
/// For how long a gateway listens on when nobody follows the log any more.
const LINGER: Duration = Duration::from_secs(10);
/// Row counts and versions are sums of at most the changes of so long, and a few.
const COMPACTION_INTERVAL: Duration = Duration::from_secs(1);

/// Every replica does this; deleting twice is harmless.
pub(crate) async fn run(database: Database, clock: Clock, routes: Arc<RouteTable>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = clock.sleep(INTERVAL) => {}
        }
        routes.ip_limits().forget_idle();
        if let Err(error) = forget_signatures(&database, clock.now_s()).await {
            tracing::warn!(%error, "old signatures cannot be forgotten now");
        }
    }
}

async fn forget_signatures(database: &Database, now_s: i64) -> Result<(), StorageError> {
    let last_ms = (now_s - WRITE_TIME_KEPT_S) * 1000;
    let mut statements: Vec<Statement> = vec![
        sql("DELETE FROM host_replay_guard WHERE remember_until_s < $1").bind(now_s).into(),
        // The table that the migration `guards_by_time` renamed.
        sql("DELETE FROM host_replay_guard_1 WHERE remember_until_s < $1").bind(now_s).into(),
        sql("DELETE FROM host_write_slots WHERE last_ms < $1").bind(last_ms).into(),
    ];
    if database.dialect() == Dialect::Postgres {
        statements.push(sql(FORGET_ATTEMPTS).bind(now_s).into());
    }
    let statements = statements.into_iter().map(CommitStatement::new).collect();
    database.begin(Scope::Host).commit(statements).await.map(drop)
}

/// On PostgreSQL row counts, and the versions of what is cached, are sums of rows that grow in number with each write: this
/// replaces many of them by their sum.
/// The gateway that sequences the log does it; two at the same time would do no harm.
pub(crate) async fn compact_counts(database: Database, activity: ActivityLog, stop: CancellationToken) {
    if database.dialect() == Dialect::Sqlite {
        return;
    }
    let mut was_possible = true;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(COMPACTION_INTERVAL) => {}
        }
        if !activity.is_sequencing() {
            continue;
        }
        let compacted = async {
            database.compact_row_counts().await?;
            database.compact_versions().await
        }
        .await;
        // Once, and not each second, while the database is away.
        if let Err(error) = &compacted
            && was_possible
        {
            tracing::warn!(%error, "row counts and versions cannot be compacted now: lists and cached responses get slower");
        }
        was_possible = compacted.is_ok();
    }
}

/// On PostgreSQL other gateways write too: what is new in the log wakes our streams. While nobody here follows the log, the server has
/// nobody to tell.
pub(crate) async fn follow_replicas(database: Database, activity: ActivityLog, stop: CancellationToken) {
    if database.dialect() == Dialect::Sqlite {
        return;
    }
    let follow = async {
        loop {
            activity.wait_for_followers().await;
            tokio::select! {
                () = follow_notifications(&database, &activity) => {}
                () = wait_for_long_without_followers(&activity) => {}
            }
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = follow => {}
    }
}

async fn follow_notifications(database: &Database, activity: &ActivityLog) {
    let mut listener = None;
    loop {
        if listener.is_none() {
            listener = database.listen(gateway_activity::WAKE_CHANNEL).await;
            // Reads what was written before the listener was connected.
            activity.wake();
        }
        let is_connected = match &mut listener {
            Some(listener) => listener.next().await,
            None => {
                tokio::time::sleep(POLL).await;
                true
            }
        };
        activity.wake();
        if !is_connected {
            listener = None;
        }
    }
}

/// Who reads again soon finds the connection open.
async fn wait_for_long_without_followers(activity: &ActivityLog) {
    loop {
        activity.wait_for_no_followers().await;
        if tokio::time::timeout(LINGER, activity.wait_for_followers()).await.is_err() {
            return;
        }
    }
}

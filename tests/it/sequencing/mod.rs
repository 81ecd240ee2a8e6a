//! Positions of events in the activity log, and on PostgreSQL who gives them.

mod lease;
mod positions;
mod undone;

use crate::storage::{Engine, TestDatabase, int, statement, text};
use gateway_activity::{ActivityLog, LeaseState, Sequencer, SequencerSettings, run_sequencer};
use gateway_storage::Scope;
use plugin_api::{
    Sql,
    abi::{Statement, Value},
    sql,
};
use plugin_testing::TestGateway;
use std::time::Duration;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

const LIMIT: Duration = Duration::from_secs(30);

/// A database with the gateway's tables, and its log.
struct LogDatabase {
    db: TestDatabase,
    log: ActivityLog,
}

impl LogDatabase {
    async fn new(engine: Engine) -> Self {
        Self::migrated(engine, usize::MAX).await
    }

    /// With so many of the gateway's own migrations.
    async fn migrated(engine: Engine, migrations: usize) -> Self {
        // Tests keep transactions open for longer than gateways do.
        let tune = |settings: &mut gateway_storage::DatabaseSettings| {
            (settings.transaction_idle_ms, settings.transaction_timeout_ms) = (30_000, 60_000);
            settings.listen_url = Some(settings.url.clone());
        };
        let db = TestDatabase::tuned(engine, tune).await;
        db.migrate_host(migrations).await;
        let log = ActivityLog::new(db.database.clone());
        Self { db, log }
    }

    /// Commits one event, and tells nobody.
    async fn write(&self, name: &str, key: Option<&str>) {
        self.db.write(vec![self.event(name, key)]).await.unwrap();
    }

    fn event(&self, name: &str, key: Option<&str>) -> Statement {
        self.log.select_statement(event(name, key)).statement
    }

    /// Sequences in the background, as a gateway does whose log this is.
    fn sequencing(log: &ActivityLog, holder: &str) -> Sequencing {
        let stop = CancellationToken::new();
        let settings = SequencerSettings { holder: holder.to_owned(), transaction_timeout: Duration::from_secs(60) };
        let task = tokio::spawn(run_sequencer(log.clone(), settings, stop.clone()));
        Sequencing { stop, task: AbortOnDropHandle::new(task) }
    }

    /// The log of another gateway.
    fn other_log(&self) -> ActivityLog {
        ActivityLog::new(self.db.database.clone())
    }

    /// A sequencer with the lease, which it takes from any other.
    async fn holder(&self, name: &str) -> Sequencer {
        self.end_lease().await;
        let mut sequencer = Sequencer::new(self.db.database.clone(), name.to_owned(), Duration::from_secs(60));
        assert_eq!(sequencer.acquire().await.unwrap(), LeaseState::Holder);
        sequencer
    }

    /// As if the holder had not renewed it in time.
    async fn end_lease(&self) {
        let end = statement("UPDATE host_activity_sequencer SET lease_until_ms = 0", []);
        self.db.write(vec![end]).await.unwrap();
    }

    /// Positions and names of all events of the log.
    async fn logged(&self) -> Vec<(i64, String)> {
        let rows = self.db.rows("SELECT id, ref_id FROM host_activity ORDER BY id").await;
        let name = |value: &Value| match value {
            Value::Text(name) => name.to_string(),
            other => panic!("{other:?} is no name"),
        };
        rows.iter().map(|row| (int(&row[0]), name(&row[1]))).collect()
    }

    async fn until_logged(&self, count: usize) -> Vec<(i64, String)> {
        let is_logged = async || self.logged().await.len() >= count;
        TestGateway::eventually(LIMIT, &format!("{count} events are public"), is_logged).await;
        self.logged().await
    }

    async fn waiting(&self) -> i64 {
        int(&self.db.rows("SELECT count(*) FROM host_activity_outbox").await[0][0])
    }
}

/// A background task that is aborted when the value is dropped.
struct Sequencing {
    stop: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl Sequencing {
    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// A row for [`ActivityLog::select_statement`].
fn event(name: &str, key: Option<&str>) -> Sql {
    let text = match key {
        Some(_) => "SELECT 'test.written', 7, NULL, 'name', $1, '{}', $2 WHERE 1 = 1",
        None => "SELECT 'test.written', 7, NULL, 'name', $1, '{}', NULL WHERE 1 = 1",
    };
    let event = sql(text).bind(name);
    match key {
        Some(key) => event.bind(key),
        None => event,
    }
}

fn named(events: &[(i64, String)]) -> Vec<&str> {
    events.iter().map(|(_, name)| name.as_str()).collect()
}

fn assert_dense(events: &[(i64, String)], first: i64) {
    let positions: Vec<i64> = events.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, (first..).take(events.len()).collect::<Vec<_>>());
}

//! What an idle queue costs, and that it wakes.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::{QueueStore, QueueWakes, QueueWorker, TaskHandler, TaskResult, push_statements};
use futures_util::future::BoxFuture;
use gateway_clock::{Clock, ManualClock};
use gateway_storage::{Database, DatabaseSettings, MigrationSet, Scope};
use plugin_api::manifest::{MigrationSpec, PushedTask, QueueLimits, QueueTask, TaskEnd};
use plugin_api::{host::decode_rows, sql};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use tracing::{Event, Metadata, Subscriber, field::Visit, span};

/// Counts the reads of the database, and keeps their texts.
#[derive(Clone, Default)]
struct Reads(Arc<Mutex<Vec<String>>>);

impl Subscriber for Reads {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("gateway_storage")
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut text = StatementText::default();
        event.record(&mut text);
        self.0.lock().unwrap().extend(text.0);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct StatementText(Option<String>);

impl Visit for StatementText {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        if field.name() == "sql" {
            self.0 = Some(value.to_owned());
        }
    }
    fn record_debug(&mut self, _: &tracing::field::Field, _: &dyn std::fmt::Debug) {}
}

#[derive(Default)]
struct Handler(AtomicUsize);

impl TaskHandler for Handler {
    fn paused_until_ms(&self) -> Option<i64> {
        None
    }
    fn run(&self, _: QueueTask) -> BoxFuture<'static, TaskResult> {
        self.0.fetch_add(1, Relaxed);
        Box::pin(async { TaskResult::Returned(TaskEnd::Unrecorded) })
    }
}

async fn queue() -> (tempfile::TempDir, Database) {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("gateway.db").display());
    let database = Database::open(DatabaseSettings::new(url)).await.unwrap();
    let create =
        MigrationSpec { version: 1, name: "create".into(), sql: "{{queue notes_mails}}".into(), postgres: None };
    let scope = Scope::plugin("notes", Arc::default());
    database.migrate(&MigrationSet { scope: &scope, views: &[], migrations: &[create] }).await.unwrap();
    (directory, database)
}

fn limits() -> QueueLimits {
    QueueLimits {
        backoff_ms: vec![1_000],
        at_once: 8,
        at_once_per_group: 4,
        lease_ms: 30_000,
        timeout_ms: 20_000,
        slow_after_ms: 2_000,
        keep_dead_ms: 1_000,
    }
}

/// 10,000 keys that are due in a minute: an idle worker reads two statements a second, and none for each key.
#[tokio::test]
async fn an_idle_worker_costs_one_statement_per_poll() {
    let (_directory, database) = queue().await;
    let task = |number: usize| PushedTask {
        key: format!("key{number}"),
        group: format!("key{number}"),
        payload: serde_json::value::to_raw_value(&1).unwrap(),
        due_ms: Some(60_000),
        unique: None,
    };
    let tasks: Vec<_> = (0..10_000).map(task).collect();
    let transaction = database.begin(Scope::Host);
    transaction.run(push_statements("notes_mails", &tasks, 0)).await.unwrap();
    transaction.commit(Vec::new()).await.unwrap();

    let (clock, stop, handler) = (ManualClock::new(0), CancellationToken::new(), Arc::new(Handler::default()));
    let worker = QueueWorker {
        plugin: "notes".to_owned(),
        store: QueueStore::new(database.clone(), "notes_mails", limits(), false),
        clock: Clock::Manual(clock.clone()),
        wakes: QueueWakes::default(),
        handler: handler.clone(),
        stop: stop.clone(),
        drain_timeout: Duration::ZERO,
    };
    let store = QueueStore::new(database.clone(), "notes_mails", limits(), false);
    let running = tokio::spawn(worker.run());
    let are_ingested = async || !store.poll().await.unwrap().needs_cycle;
    tokio::time::timeout(Duration::from_secs(20), async {
        while !are_ingested().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();

    let reads = Reads::default();
    {
        let _counting = tracing::subscriber::set_default(reads.clone());
        tokio::time::sleep(Duration::from_millis(1_800)).await;
    }
    let texts = std::mem::take(&mut *reads.0.lock().unwrap());
    assert!((2..=5).contains(&texts.len()), "{texts:#?}");
    assert_eq!(handler.0.load(Relaxed), 0);

    clock.advance(Duration::from_secs(60)).await;
    tokio::time::timeout(Duration::from_secs(60), async {
        while store.stats(60_000).await.unwrap().tasks > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(handler.0.load(Relaxed), 10_000);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn dead_tasks_are_kept_for_their_time_and_idle_keys_until_the_next_pruning() {
    let (_directory, database) = queue().await;
    let store = QueueStore::new(database.clone(), "notes_mails", limits(), false);
    let transaction = database.begin(Scope::Host);
    let insert = "INSERT INTO notes_mails_dead (id, key, group_key, payload, pushed_ms, attempt, error, dead_ms)
        VALUES (1, 'a', 'a', '1', 0, 1, 'no', 5000), (2, 'a', 'a', '1', 0, 1, 'no', 5001)";
    let keys = format!(
        "INSERT INTO notes_mails_keys (key, group_key, due_ms, token) VALUES ('idle', 'a', {0}, 0), ('runs', 'b', {0}, 7), ('due', 'c', 9, 0)",
        i64::MAX
    );
    transaction.run(vec![sql(insert).into(), sql(keys).into()]).await.unwrap();
    transaction.commit(Vec::new()).await.unwrap();
    assert_eq!(store.stats(6_001).await.unwrap().dead, 2);
    store.prune(6_001).await.unwrap();
    let read = async |text: &'static str| {
        let rows = database.read(&Scope::Host, sql(text).into()).await.unwrap();
        decode_rows::<String>(&rows).unwrap()
    };
    assert_eq!(read("SELECT CAST(id AS TEXT) FROM notes_mails_dead").await, ["2"]);
    assert_eq!(read("SELECT key FROM notes_mails_keys ORDER BY key").await, ["due", "runs"]);
}

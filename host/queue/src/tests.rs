//! What an idle queue costs, that it wakes, what pruning leaves, and what is counted and logged.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::{QueueStore, QueueWakes, QueueWorker, QueueWorkerConfig, TaskHandler, TaskResult, push_statements};
use futures_util::future::BoxFuture;
use gateway_clock::{Clock, ManualClock};
use gateway_storage::{Database, DatabaseSettings, MigrationSet, Scope};
use gateway_telemetry::MetricsRecorder;
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
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Keeps the texts of one field of a crate's events.
#[derive(Clone)]
struct EventTexts {
    target: &'static str,
    field: &'static str,
    texts: Arc<Mutex<Vec<String>>>,
}

impl EventTexts {
    fn new(target: &'static str, field: &'static str) -> Self {
        Self { target, field, texts: Arc::default() }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap())
    }
}

impl Subscriber for EventTexts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.target)
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut text = FieldText { field: self.field, text: None };
        event.record(&mut text);
        self.texts.lock().unwrap().extend(text.text);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct FieldText {
    field: &'static str,
    text: Option<String>,
}

impl Visit for FieldText {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == self.field {
            self.text = Some(value.to_owned());
        }
    }
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == self.field {
            self.text = Some(format!("{value:?}"));
        }
    }
}

/// Ends a task as its key says.
#[derive(Default)]
struct Handler {
    calls: AtomicUsize,
    /// Stops the worker.
    stop: CancellationToken,
}

impl TaskHandler for Handler {
    fn paused_until_ms(&self) -> Option<i64> {
        None
    }
    fn run(&self, task: QueueTask) -> BoxFuture<'static, TaskResult> {
        let (earlier_calls, stop) = (self.calls.fetch_add(1, Relaxed), self.stop.clone());
        Box::pin(async move {
            match task.key.as_str() {
                "fails" => TaskResult::Failed("no".to_owned()),
                "is off at first" if earlier_calls == 0 => TaskResult::NotStarted,
                "panics when the worker stops" => {
                    stop.cancelled().await;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    panic!("for the test")
                }
                _ => TaskResult::Returned(TaskEnd::Unrecorded),
            }
        })
    }
}

/// A worker of the queue of [`queue`].
fn worker(database: &Database, clock: Clock, handler: &Arc<Handler>) -> QueueWorker {
    QueueWorker::new(QueueWorkerConfig {
        plugin: "notes".to_owned(),
        store: QueueStore::new(database.clone(), "notes_mails", limits(), false),
        clock,
        wakes: QueueWakes::default(),
        handler: handler.clone(),
        stop: handler.stop.clone(),
        drain_timeout: Duration::from_secs(20),
    })
}

fn task(key: &str, due_ms: Option<i64>) -> PushedTask {
    let payload = serde_json::value::to_raw_value(&1).unwrap();
    PushedTask { key: key.to_owned(), group: key.to_owned(), payload, due_ms, unique: None }
}

async fn push(database: &Database, tasks: &[PushedTask], now_ms: i64) {
    let transaction = database.begin(Scope::Host);
    transaction.run(push_statements("notes_mails", tasks, now_ms)).await.unwrap();
    transaction.commit(Vec::new()).await.unwrap();
}

async fn execute(database: &Database, statements: &[&str]) {
    let transaction = database.begin(Scope::Host);
    let statements = statements.iter().map(|statement| sql((*statement).to_owned()).into()).collect();
    transaction.run(statements).await.unwrap();
    transaction.commit(Vec::new()).await.unwrap();
}

async fn eventually(condition: impl AsyncFn() -> bool) {
    tokio::time::timeout(Duration::from_secs(60), async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
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
        concurrency: 8,
        concurrency_per_group: 4,
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
    let tasks: Vec<_> = (0..10_000).map(|number| task(&format!("key{number}"), Some(60_000))).collect();
    push(&database, &tasks, 0).await;

    let (clock, handler) = (ManualClock::new(0), Arc::new(Handler::default()));
    let worker = worker(&database, Clock::Manual(clock.clone()), &handler);
    let store = QueueStore::new(database.clone(), "notes_mails", limits(), false);
    let running = tokio::spawn(worker.run());
    eventually(async || !store.poll().await.unwrap().needs_cycle).await;

    let reads = EventTexts::new("gateway_storage", "sql");
    {
        let _counting = tracing::subscriber::set_default(reads.clone());
        tokio::time::sleep(Duration::from_millis(1_800)).await;
    }
    let texts = reads.take();
    assert!((2..=5).contains(&texts.len()), "{texts:#?}");
    assert_eq!(handler.calls.load(Relaxed), 0);

    clock.advance(Duration::from_secs(60)).await;
    eventually(async || store.stats(60_000).await.unwrap().tasks == 0).await;
    assert_eq!(handler.calls.load(Relaxed), 10_000);
    handler.stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn dead_tasks_are_kept_for_their_time_and_idle_keys_until_the_next_pruning() {
    let (_directory, database) = queue().await;
    let store = QueueStore::new(database.clone(), "notes_mails", limits(), false);
    let insert = "INSERT INTO notes_mails_dead (id, key, group_key, payload, pushed_ms, attempt, error, dead_ms)
        VALUES (1, 'a', 'a', '1', 0, 1, 'no', 5000), (2, 'a', 'a', '1', 0, 1, 'no', 5001)";
    let keys = format!(
        "INSERT INTO notes_mails_keys (key, group_key, due_ms, token) VALUES ('idle', 'a', {0}, 0), ('runs', 'b', {0}, 7), ('due', 'c', 9, 0)",
        i64::MAX
    );
    execute(&database, &[insert, &keys]).await;
    assert_eq!(store.stats(6_001).await.unwrap().dead, 2);
    assert!(!store.prune_batch(6_001).await.unwrap(), "there is no more");
    let read = async |text: &'static str| {
        let rows = database.read(&Scope::Host, sql(text).into()).await.unwrap();
        decode_rows::<String>(&rows).unwrap()
    };
    assert_eq!(read("SELECT CAST(id AS TEXT) FROM notes_mails_dead").await, ["2"]);
    assert_eq!(read("SELECT key FROM notes_mails_keys ORDER BY key").await, ["due", "runs"]);
}

/// Retries and tasks for tomorrow do not make a queue old.
#[tokio::test]
async fn a_queue_is_as_old_as_the_key_that_has_been_due_the_longest() {
    let (_directory, database) = queue().await;
    let store = QueueStore::new(database.clone(), "notes_mails", limits(), false);
    let oldest_due_ms = async || store.stats(10_000).await.unwrap().oldest_due_ms;
    assert_eq!(oldest_due_ms().await, i64::MAX, "nothing is there");
    push(&database, &[task("tomorrow", Some(86_400_000))], 0).await;
    assert_eq!(oldest_due_ms().await, 86_400_000);
    let ingest = "INSERT INTO notes_mails_keys (key, group_key, due_ms, is_slow, token) VALUES ('tomorrow', 'a', 86400000, 0, 0),
        ('runs', 'b', 1000, 0, 7), ('slow', 'c', 3000, 1, 0), ('fast', 'd', 4000, 0, 0)";
    execute(&database, &["DELETE FROM notes_mails_pushed", ingest]).await;
    assert_eq!(oldest_due_ms().await, 3_000);
    execute(&database, &["DELETE FROM notes_mails_keys WHERE key = 'slow'"]).await;
    assert_eq!(oldest_due_ms().await, 4_000);
    // The worker is paused, so that no cycle reads the push.
    push(&database, &[task("new", Some(2_000))], 0).await;
    assert_eq!(oldest_due_ms().await, 2_000);
}

#[tokio::test]
async fn a_wait_without_end_does_not_overflow() {
    let (_directory, database) = queue().await;
    let limits = QueueLimits { backoff_ms: vec![u64::MAX], ..limits() };
    let store = QueueStore::new(database, "notes_mails", limits, true);
    assert!(store.retry_wait_ms(1).is_some_and(|wait_ms| wait_ms > u64::MAX / 2));
    assert_eq!(store.retry_wait_ms(2), None);
}

/// The last failure of a task is one result, and neither a lease that nobody has any more nor a call that did not start is one.
#[tokio::test]
async fn each_call_of_the_handler_is_counted_with_one_result() {
    let recorder = MetricsRecorder::default();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (_directory, database) = queue().await;
    let expired = format!(
        "INSERT INTO notes_mails_keys (key, group_key, due_ms, token, lease_until_ms) VALUES ('gone', 'gone', {}, 7, 1)",
        i64::MAX
    );
    execute(&database, &[&expired]).await;
    push(&database, &[task("is off at first", None), task("fails", Some(2_000))], 1_000).await;
    let (clock, handler) = (ManualClock::new(1_000), Arc::new(Handler::default()));
    let worker = worker(&database, Clock::Manual(clock.clone()), &handler);
    let running = tokio::spawn(worker.run());
    eventually(async || handler.calls.load(Relaxed) == 2).await;
    eventually(async || {
        clock.advance(Duration::from_secs(1)).await;
        handler.calls.load(Relaxed) == 4
    })
    .await;
    let store = QueueStore::new(database.clone(), "notes_mails", limits(), false);
    eventually(async || store.stats(9_000).await.unwrap().tasks == 0).await;
    handler.stop.cancel();
    running.await.unwrap();

    let text = recorder.render();
    let mut counters: Vec<_> = text.lines().filter(|line| !line.starts_with('#') && line.contains("_total{")).collect();
    counters.retain(|line| line.starts_with("gateway_queue_"));
    counters.sort_unstable();
    let expected = [
        r#"gateway_queue_attempts_total{plugin="notes",queue="notes_mails",result="failed"} 2"#,
        r#"gateway_queue_attempts_total{plugin="notes",queue="notes_mails",result="ok"} 1"#,
        r#"gateway_queue_dead_tasks_total{plugin="notes",queue="notes_mails"} 1"#,
        r#"gateway_queue_expired_leases_total{plugin="notes",queue="notes_mails"} 1"#,
    ];
    assert_eq!(counters, expected);
}

#[tokio::test]
async fn a_panic_while_the_worker_drains_is_logged() {
    let messages = EventTexts::new("gateway_queue", "message");
    let _logging = tracing::subscriber::set_default(messages.clone());
    let (_directory, database) = queue().await;
    push(&database, &[task("panics when the worker stops", None)], 1_000).await;
    let handler = Arc::new(Handler::default());
    let worker = worker(&database, Clock::Manual(ManualClock::new(1_000)), &handler);
    let running = tokio::spawn(worker.run());
    eventually(async || handler.calls.load(Relaxed) == 1).await;
    handler.stop.cancel();
    running.await.unwrap();
    assert_eq!(messages.take(), ["a task of a queue ended badly"]);
}

//! A test plugin whose queue does what each task says, and writes down every attempt.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostErrorCode, HostHandle, Json, JsonBody, JsonSchema, Migration,
    Plugin, PluginContext, Query as _, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    queue::{NewTask, Queue, QueueSettings, Retry, RetryOutcome, Task},
    sql,
};
use serde::{Deserialize, Serialize};
use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

/// Writes of handlers, and how often their closures ran: on PostgreSQL again after each conflict. Each test is a process.
pub static WRITES: AtomicU32 = AtomicU32::new(0);
pub static CLOSURES: AtomicU32 = AtomicU32::new(0);

pub const PUSH: &str = "/api/postman/push";

const LETTERS: Queue<Letter> = Queue::new("postman_letters");

/// What the handler does with the task, after it has written down that it began.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Letter {
    pub name: String,
    /// Real time that it takes.
    pub takes_ms: u64,
    /// The attempts up to this one fail as `failure` says.
    pub fails: u32,
    pub failure: Failure,
    /// It asks for its lease before it ends.
    pub renews: bool,
    /// Real time that it takes afterwards.
    pub then_takes_ms: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    #[default]
    Retry,
    RetryAfterAnHour,
    Dead,
    Error,
    Panic,
    Hang,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewLetter {
    pub key: String,
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default)]
    pub due_ms: Option<i64>,
    #[serde(default)]
    pub unique: Option<String>,
    #[serde(flatten)]
    pub letter: Letter,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub gateway: String,
    pub backoff_ms: Vec<u64>,
    pub concurrency: u32,
    pub concurrency_per_group: u32,
    pub lease_ms: u64,
    pub timeout_ms: u64,
    pub slow_after_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            gateway: "one".to_owned(),
            backoff_ms: vec![10_000, 60_000],
            concurrency: 16,
            concurrency_per_group: 4,
            lease_ms: 30_000,
            timeout_ms: 20_000,
            slow_after_ms: 2_000,
        }
    }
}

pub struct Postman {
    config: Config,
}

impl Identity for Postman {
    const NAME: &'static str = "postman";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Handles tasks as a test wishes";
}

impl Plugin for Postman {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([Route::post(PUSH, push_letters).public().body_max_bytes(4 * 1024 * 1024)])
            .migrations([Migration::new(
                1,
                "create",
                "{{queue postman_letters}}
                CREATE TABLE postman_runs (id {{id}}, gateway TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
                    task BIGINT NOT NULL, attempt BIGINT NOT NULL, begun_ms BIGINT NOT NULL, ended_ms BIGINT,
                    outcome TEXT)",
            )])
            .on_queue(LETTERS, settings, deliver)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self { config })
    }
}

fn settings(postman: &Postman) -> QueueSettings {
    let Config { backoff_ms, concurrency, concurrency_per_group, lease_ms, timeout_ms, slow_after_ms, .. } =
        &postman.config;
    QueueSettings {
        backoff: backoff_ms.iter().copied().map(Duration::from_millis).collect(),
        concurrency: *concurrency,
        concurrency_per_group: *concurrency_per_group,
        lease: Duration::from_millis(*lease_ms),
        timeout: Duration::from_millis(*timeout_ms),
        slow_after: Duration::from_millis(*slow_after_ms),
        ..QueueSettings::default()
    }
}

pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Postman>()
}

/// Answers with how many are new.
async fn push_letters(
    cx: RequestContext<Postman>,
    JsonBody(letters): JsonBody<Vec<NewLetter>>,
) -> Result<Json<usize>, HandlerError> {
    WRITES.fetch_add(1, Relaxed);
    let pushed = cx
        .write(async move |tx| {
            CLOSURES.fetch_add(1, Relaxed);
            let tasks: Vec<_> = letters.iter().map(new_task).collect();
            LETTERS.push_all(tx, &tasks).await.map_err(HandlerError::from)
        })
        .await?;
    Ok(Json(pushed))
}

fn new_task(new: &NewLetter) -> NewTask<'_, Letter> {
    let mut task = NewTask::new(&new.key, &new.letter);
    if let Some(group) = &new.group {
        task = task.group(group);
    }
    if let Some(due_ms) = new.due_ms {
        task = task.due_ms(due_ms);
    }
    if let Some(unique) = &new.unique {
        task = task.unique(unique);
    }
    task
}

/// Real time: leases go by it.
fn real_ms() -> i64 {
    gateway_clock::Clock::System.now_ms()
}

async fn deliver(cx: PluginContext<Postman>, task: Task<Letter>) -> Result<(), HostError> {
    let letter = task.payload.clone();
    let run = begin(&cx, &task).await?;
    if letter.takes_ms > 0 {
        tokio::time::sleep(Duration::from_millis(letter.takes_ms)).await;
    }
    if letter.renews && !task.renew(&cx).await? {
        return end(&cx, run, "lost before the end").await;
    }
    if letter.then_takes_ms > 0 {
        tokio::time::sleep(Duration::from_millis(letter.then_takes_ms)).await;
    }
    let outcome = if task.attempt() <= letter.fails { Some(letter.failure) } else { None };
    match outcome {
        Some(Failure::Error) => return Err(HostError::new(HostErrorCode::Internal, "the letter is wet")),
        Some(Failure::Panic) => panic!("the letter burns"),
        Some(Failure::Hang) => std::future::pending().await,
        Some(Failure::Retry | Failure::RetryAfterAnHour | Failure::Dead) | None => {}
    }
    WRITES.fetch_add(1, Relaxed);
    cx.write(async move |tx| {
        CLOSURES.fetch_add(1, Relaxed);
        let text = match outcome {
            Some(Failure::Dead) => {
                task.dead(tx, "nobody lives there").await?;
                "dead".to_owned()
            }
            Some(failure) => {
                let retry = match failure {
                    Failure::RetryAfterAnHour => Retry::After(Duration::from_secs(3_600)),
                    _ => Retry::Backoff,
                };
                match task.retry(tx, retry, "nobody is at home").await? {
                    RetryOutcome::Again { due_ms } => format!("again in {} s", (due_ms - tx.now_ms()) / 1_000),
                    RetryOutcome::Dead => "dead after its last attempt".to_owned(),
                }
            }
            None => {
                task.done(tx).await?;
                "done".to_owned()
            }
        };
        let update = sql("UPDATE postman_runs SET ended_ms = $2, outcome = $3 WHERE id = $1");
        tx.execute(update.bind((run, real_ms(), text))).await.map(drop)
    })
    .await
}

async fn begin(cx: &PluginContext<Postman>, task: &Task<Letter>) -> Result<i64, HostError> {
    let gateway = cx.plugin().config.gateway.clone();
    let row =
        (gateway, task.key().to_owned(), task.payload.name.clone(), task.id(), i64::from(task.attempt()), real_ms());
    WRITES.fetch_add(1, Relaxed);
    cx.write(async move |tx| {
        CLOSURES.fetch_add(1, Relaxed);
        let columns = "gateway, key, name, task, attempt, begun_ms";
        let insert = plugin_api::Sql::insert_rows("postman_runs", columns, [row.clone()]);
        tx.one(insert.expect("a row").push(" RETURNING id")).await
    })
    .await
}

async fn end(cx: &PluginContext<Postman>, run: i64, text: &'static str) -> Result<(), HostError> {
    let update = sql("UPDATE postman_runs SET ended_ms = $2, outcome = $3 WHERE id = $1").bind((run, real_ms(), text));
    cx.write(async move |tx| tx.execute(update.clone()).await.map(drop)).await
}

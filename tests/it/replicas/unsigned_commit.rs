//! The connection breaks at the COMMIT of writes that have no signature: a job's, and an unsigned request's.
//!
//! The rule that is tested: what was committed is known to be, and a write that is told to have failed never takes effect.

use gateway_tests::{
    postgres,
    postgres_proxy::{Fault, PostgresProxy},
    process::LIMIT,
};
use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostHandle, Job, Migration, NoConfig, Path, Plugin,
    PluginContext, RequestContext, Route,
    host::{Identity, object_module},
    response::NoContent,
    sql,
};
use plugin_testing::TestGateway;
use std::{sync::Mutex, time::Duration};

const INSERT: &str = "INSERT INTO diary_entries (body) VALUES ($1)";
const TRIES_MAX: usize = 20;

struct Diary;

/// What the job writes at its next run, and whether it was told that this was done.
static ORDER: Mutex<Option<String>> = Mutex::new(None);
static RESULT: Mutex<Option<bool>> = Mutex::new(None);

impl Identity for Diary {
    const NAME: &'static str = "diary";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "A plugin of this test";
}

impl Plugin for Diary {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(1, "create", "CREATE TABLE diary_entries (id {{id}}, body TEXT NOT NULL)")])
            .routes([Route::post("/api/diary/{body}", add_entry).public()])
            .jobs([Job::every("write", Duration::from_secs(1), write_order)])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn add_entry(cx: RequestContext<Diary>, Path(body): Path<String>) -> Result<NoContent, HandlerError> {
    cx.write(async move |tx| Ok(tx.execute(sql(INSERT).bind(body.clone())).await?)).await?;
    Ok(NoContent)
}

async fn write_order(cx: PluginContext<Diary>) -> Result<(), HostError> {
    let Some(body) = ORDER.lock().unwrap().take() else { return Ok(()) };
    let written = cx.write(async move |tx| tx.execute(sql(INSERT).bind(body.clone())).await).await;
    *RESULT.lock().unwrap() = Some(written.is_ok());
    written.map(drop)
}

struct Fixture {
    proxy: PostgresProxy,
    gateway: TestGateway,
    next: usize,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Job,
    Request,
}

impl Fixture {
    async fn start() -> Self {
        let proxy = PostgresProxy::start(&postgres::fresh_database().await.unwrap()).await.unwrap();
        let url = proxy.url().to_owned();
        let gateway = TestGateway::builder().plugin(object_module::<Diary>());
        let gateway = gateway.configure(move |config| config.database.url = Some(url.into())).start().await;
        Self { proxy, gateway, next: 0 }
    }

    /// Writes until the fault happens. Returns whether the writer was told that it was done, and how often it was.
    async fn hit(&mut self, by: By, fault: Fault) -> (bool, usize) {
        for _ in 0..TRIES_MAX {
            self.next += 1;
            let body = format!("entry{}", self.next);
            self.proxy.watch(&body, [fault]);
            let is_told = match by {
                By::Request => {
                    let answer = self.gateway.send("POST", &format!("/api/diary/{body}"), &[], "").await;
                    assert!(matches!(answer.status, 204 | 503), "{}: {}", answer.status, answer.text());
                    answer.status == 204
                }
                By::Job => self.run_job(&body).await,
            };
            let stored = self.gateway.rows(&format!("SELECT id FROM diary_entries WHERE body = '{body}'")).await.len();
            let transaction = self.proxy.transactions().into_iter().next().expect("the body is in it");
            if transaction.was_hit {
                return (is_told, stored);
            }
            assert!(is_told && stored == 1, "nothing happened to it");
        }
        panic!("no write met {fault:?}");
    }

    async fn run_job(&self, body: &str) -> bool {
        *RESULT.lock().unwrap() = None;
        *ORDER.lock().unwrap() = Some(body.to_owned());
        let has_run = async || {
            self.gateway.clock().advance(Duration::from_secs(1)).await;
            RESULT.lock().unwrap().is_some()
        };
        TestGateway::eventually(LIMIT, "the job runs", has_run).await;
        RESULT.lock().unwrap().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_without_a_signature_is_known_to_be_done_or_is_not_done() {
    let mut fixture = Fixture::start().await;
    for by in [By::Job, By::Request] {
        for _ in 0..3 {
            assert_eq!(fixture.hit(by, Fault::LostCommit).await, (true, 1), "the server had committed: {by:?}");
        }
    }
    // Before the COMMIT arrives. The server counts statements from BEGIN; the last one is COMMIT.
    fixture.proxy.watch("entry0", []);
    fixture.gateway.send("POST", "/api/diary/entry0", &[], "").await;
    let commit = fixture.proxy.transactions()[0].statements.len();
    for by in [By::Job, By::Request] {
        assert_eq!(fixture.hit(by, Fault::BeforeStatement(commit)).await, (false, 0), "nothing was written: {by:?}");
    }
    let states = "SELECT state FROM host_attempts WHERE state LIKE 'lost %'";
    assert_eq!(fixture.gateway.rows(states).await.len(), 2, "what was given up cannot take effect later");
}

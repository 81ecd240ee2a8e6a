//! Slow statements have a log line, which holds no value, and are counted by plugin.

use super::*;
use gateway_telemetry::{LogContext, MetricsRecorder, with_log_context};
use plugin_testing::Value as Json;
use rstest::rstest;
use std::{io, sync::Mutex};
use tracing_subscriber::fmt::MakeWriter;

const SECRET: &str = "a value that is nobody's business";

/// The log of this process.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl Log {
    /// Each test has a process of its own.
    fn start() -> Self {
        let log = Self::default();
        let json = tracing_subscriber::fmt().json().flatten_event(true).with_writer(log.clone());
        json.try_init().unwrap();
        log
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn slow_lines(&self) -> Vec<Json> {
        let text = self.text();
        let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        lines.filter(|line| line["message"] == "a statement was slow").collect()
    }
}

/// Takes longer than 20 ms. The comment makes another text of it.
fn slow(comment: &str) -> Statement {
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
               SELECT count(*) AS numbers, cast($2 AS text) AS note FROM n";
    statement(&format!("{sql} /* {comment} */"), [Value::Int(400_000), text(SECRET)])
}

fn slow_from_20ms(settings: &mut DatabaseSettings) {
    settings.slow_statement_ms = 20;
}

fn count_of(metrics: &MetricsRecorder, plugin: &str) -> Option<u64> {
    let text = metrics.render();
    let series = format!("gateway_database_slow_statements_total{{plugin=\"{plugin}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok())
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_statement_is_logged_once_and_counted_each_time(#[case] engine: Engine) {
    let db = TestDatabase::with_notes_tuned(engine, slow_from_20ms).await;
    let (log, metrics) = (Log::start(), MetricsRecorder::install().unwrap());
    let request = LogContext::Request { id: "request-1".into(), operation: "list_notes".into() };
    let forum = plugin_scope("forum");
    let read = || db.database.read(&forum, slow("read"));
    with_log_context(request, async { read().await.unwrap() }).await;
    read().await.unwrap();

    let lines = log.slow_lines();
    assert_eq!(lines.len(), 1, "one line of a text in a minute: {lines:?}");
    let line = &lines[0];
    assert_eq!((&line["level"], &line["plugin"]), (&"WARN".into(), &"forum".into()), "{line}");
    assert_eq!((&line["operation"], &line["request_id"]), (&"list_notes".into(), &"request-1".into()), "{line}");
    assert_eq!((&line["rows"], &line["left_out"], &line["job"]), (&1.into(), &0.into(), &Json::Null), "{line}");
    let took = line["duration_ms"].as_u64().unwrap();
    assert!((20..60_000).contains(&took), "{line}");
    assert!(line["sql"].as_str().unwrap().contains("SELECT count(*) AS numbers, cast($2"), "{line}");
    assert!(!log.text().contains("nobody's business"), "{}", log.text());
    assert_eq!(count_of(&metrics, "forum"), Some(2), "{}", metrics.render());
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn statements_of_transactions_are_measured_one_by_one(#[case] engine: Engine) {
    let db = TestDatabase::with_notes_tuned(engine, slow_from_20ms).await;
    let (log, metrics) = (Log::start(), MetricsRecorder::install().unwrap());
    let job = LogContext::Job { name: "tidy_notes".into() };
    let in_job = async {
        let transaction = db.forum();
        transaction.run(vec![slow("run"), statement("SELECT 7 AS fast", [])]).await.unwrap();
        transaction.run_as_host(vec![slow("host's")]).await.unwrap();
        transaction.commit(last(slow("commit"))).await.unwrap();
    };
    with_log_context(job, in_job).await;
    let lines = log.slow_lines();
    let of = |part: &str| {
        let found: Vec<_> = lines.iter().filter(|line| line["sql"].as_str().unwrap().contains(part)).collect();
        assert_eq!(found.len(), 1, "{part}: {lines:?}");
        assert_eq!((&found[0]["job"], &found[0]["operation"]), (&"tidy_notes".into(), &Json::Null), "{lines:?}");
        found[0]["plugin"].clone()
    };
    assert_eq!(
        [of("/* run */"), of("/* host's */"), of("/* commit */")],
        [Json::from("forum"), Json::Null, Json::Null]
    );
    assert_eq!(count_of(&metrics, "forum"), Some(1), "the time of one is not that of the next: {lines:?}");
    assert_eq!(count_of(&metrics, "host"), Some(2), "{lines:?}");
    assert!(!log.text().contains("nobody's business"), "{}", log.text());
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_stopped_is_counted_and_0_logs_nothing(#[case] engine: Engine) {
    let (log, metrics) = (Log::start(), MetricsRecorder::install().unwrap());
    let off = TestDatabase::tuned(engine, |settings| settings.slow_statement_ms = 0).await;
    off.database.read(&plugin_scope("forum"), slow("off")).await.unwrap();
    assert_eq!((log.slow_lines().len(), count_of(&metrics, "forum")), (0, None));

    let tune = |settings: &mut DatabaseSettings| {
        (settings.slow_statement_ms, settings.statement_timeout_ms) = (100, 200);
    };
    let on = TestDatabase::tuned(engine, tune).await;
    on.database.read(&plugin_scope("forum"), endless()).await.unwrap_err();
    assert_eq!((log.slow_lines().len(), count_of(&metrics, "forum")), (0, Some(1)), "its end has a line of its own");
    let text = log.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("ran for")).collect();
    let [line] = lines[..] else { panic!("one statement has one line: {lines:?}") };
    assert!(line.contains("a statement was stopped: it ran for too long") && line.contains("forum"), "{line}");
}

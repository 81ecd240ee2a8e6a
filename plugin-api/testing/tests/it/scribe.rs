//! A test plugin whose one write ends as the payload wishes, and whose topic counts the rows that it renders.

use plugin_api::{
    ApiError, ConfigError, Created, Definition, HandlerError, HostError, HostErrorCode, HostHandle, Json, JsonSchema,
    Migration, NoConfig, Plugin, PluginContext, Query as _, QueryString, RequestContext, Route, Signed, Tx,
    abi::PluginModule_Ref,
    host::Identity,
    point::Point,
    sql,
    stream::{EventBuilder, Frame, Subscription, Topic, TopicRow},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

pub const LINES: &str = "/api/scribe/lines";
pub const SLOW_LINES: &str = "/api/scribe/slow_lines";
pub const STREAM: &str = "/api/scribe/stream";
/// How many rows the topic has rendered.
pub const RENDERED: &str = "/api/scribe/rendered";
pub const ACTION: &str = "scribe.write";
/// An extension point through which a test runs the write of a job.
pub const JOB: Point<JobInput, (bool, bool)> = Point::new("scribe-job");

const TOPIC: &str = "scribe";

#[derive(Default)]
struct Scribe {
    /// Runs of the closure.
    runs: AtomicU32,
    /// Rows that the topic rendered.
    rendered: AtomicU32,
}

impl Identity for Scribe {
    const NAME: &'static str = "scribe";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Writes as a test wishes";
}

impl Plugin for Scribe {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([
                Route::post(LINES, write_line).signed(ACTION),
                Route::post(SLOW_LINES, write_slow_line).signed(ACTION).timeout_ms(50),
                Route::get(LINES, count_lines).public(),
                Route::get(STREAM, stream_lines).public(),
                Route::get(RENDERED, count_rendered).public(),
            ])
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE scribe_lines (id {{id}}, text TEXT NOT NULL, written_ms BIGINT NOT NULL)",
            )])
            .publishes(&["scribe.line"])
            .contributes(JOB, run_job)
            .topic(TOPIC, render)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

/// Does not use `export_plugin!`, which takes the name of the package.
pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Scribe>()
}

#[derive(Debug, ApiError)]
enum ScribeError {
    #[api(409, "refused", "the line is refused", hint = "send another line")]
    Refused,
}

/// What happens after the line and its event were written.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Good,
    /// The closure returns an error for the caller.
    Refused,
    /// The closure returns an error for the log.
    Failed,
    Panic,
    /// A statement fails, and the closure returns no error.
    BadStatement,
    /// The closure never ends.
    Hang,
    /// The handler never ends after its write.
    HangLater,
    /// The closure refuses, and the handler answers 201 all the same.
    RefusedAndIgnored,
    /// The handler answers 201, whatever the write returned.
    Ignored,
    /// The handler refuses after its write.
    RefusedLater,
    /// The handler writes again.
    Twice,
}

#[derive(Deserialize, JsonSchema)]
struct NewLine {
    text: String,
    ending: Ending,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    id: i64,
    /// Lines that a read outside of the write sees afterwards.
    total: i64,
    runs: u32,
    error: Option<String>,
}

async fn insert(tx: &Tx, text: &str) -> Result<i64, HostError> {
    let insert = sql("INSERT INTO scribe_lines (text, written_ms) VALUES ($1, $2) RETURNING id");
    let id = tx.one(insert.bind(text).bind(tx.now_ms())).await?;
    EventBuilder::new("scribe.line", &json!({ "id": id, "text": text })).publish(tx)?;
    Ok(id)
}

async fn end(tx: &Tx, ending: Ending) -> Result<(), HandlerError<ScribeError>> {
    match ending {
        Ending::Refused | Ending::RefusedAndIgnored => Err(ScribeError::Refused.into()),
        Ending::Failed => Err(HostError::new(HostErrorCode::Internal, "as the test wished").into()),
        Ending::Panic => panic!("as the test wished"),
        Ending::Hang => std::future::pending().await,
        Ending::BadStatement => {
            let _ = tx.execute(sql("INSERT INTO scribe_lines (text, written_ms) VALUES (NULL, 0)")).await;
            Ok(())
        }
        Ending::Good | Ending::Ignored | Ending::HangLater | Ending::RefusedLater | Ending::Twice => Ok(()),
    }
}

async fn total(cx: &RequestContext<Scribe>) -> Result<i64, HostError> {
    cx.db().one(sql("SELECT count(*) FROM scribe_lines")).await
}

async fn write_line(
    cx: RequestContext<Scribe>,
    Signed { payload: NewLine { text, ending }, .. }: Signed<NewLine>,
) -> Result<Created<Line>, HandlerError<ScribeError>> {
    let plugin = cx.plugin_context().clone();
    plugin.plugin().runs.store(0, Relaxed);
    let written = cx
        .write(async move |tx| {
            plugin.plugin().runs.fetch_add(1, Relaxed);
            let id = insert(tx, &text).await?;
            end(tx, ending).await?;
            Ok(id)
        })
        .await;
    let id = match ending {
        Ending::Ignored | Ending::RefusedAndIgnored => written.unwrap_or_default(),
        _ => written?,
    };
    let error = match ending {
        Ending::HangLater => std::future::pending().await,
        Ending::RefusedLater => return Err(ScribeError::Refused.into()),
        Ending::Twice => {
            let again: Result<i64, HandlerError<ScribeError>> =
                cx.write(async move |tx| Ok(insert(tx, "twice").await?)).await;
            again.err().map(|error| format!("{error:?}"))
        }
        _ => None,
    };
    Ok(Created(Line { id, total: total(&cx).await?, runs: cx.plugin().runs.load(Relaxed), error }))
}

async fn write_slow_line(
    cx: RequestContext<Scribe>,
    signed: Signed<NewLine>,
) -> Result<Created<Line>, HandlerError<ScribeError>> {
    write_line(cx, signed).await
}

async fn count_lines(cx: RequestContext<Scribe>) -> Result<Json<i64>, HandlerError> {
    Ok(Json(total(&cx).await?))
}

#[derive(Deserialize, JsonSchema)]
pub struct JobInput {
    text: String,
    fails: bool,
}

/// Whether the write of a job succeeded, and whether its time stood still.
async fn run_job(cx: PluginContext<Scribe>, input: JobInput) -> Result<(bool, bool), HostError> {
    let context = cx.clone();
    let written = cx
        .write(async move |tx| {
            let began_ms = tx.now_ms();
            insert(tx, &input.text).await?;
            context.sleep(Duration::ZERO).await;
            if input.fails {
                Err(HostError::new(HostErrorCode::Internal, "as the test wished"))
            } else {
                Ok(began_ms == tx.now_ms())
            }
        })
        .await;
    Ok((written.is_ok(), written.unwrap_or_default()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct After {
    since_id: i64,
}

async fn stream_lines(
    _: RequestContext<Scribe>,
    QueryString(After { since_id }): QueryString<After>,
) -> Result<Topic, HandlerError> {
    Ok(Topic(Subscription { topic: TOPIC.to_owned(), after_id: Some(since_id), ..Subscription::default() }))
}

async fn count_rendered(cx: RequestContext<Scribe>) -> Result<Json<u32>, HandlerError> {
    Ok(Json(cx.plugin().rendered.load(Relaxed)))
}

async fn render(cx: PluginContext<Scribe>, rows: Vec<TopicRow>) -> Result<Vec<Frame>, HostError> {
    cx.plugin().rendered.fetch_add(u32::try_from(rows.len()).unwrap_or(u32::MAX), Relaxed);
    rows.into_iter().map(|row| Frame::new(row.id, row.ts, row.kind, &row.data)).collect()
}

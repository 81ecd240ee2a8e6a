//! A topic renders once for all its readers, and nothing for nobody.

use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostHandle, Json, NoConfig, Plugin, PluginContext,
    RequestContext, Route,
    host::{Identity, object_module},
    stream::{EventBuilder, Frame, StreamPosition, Topic, TopicRow},
};
use plugin_testing::{TestGateway, json};
use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

const LIMIT: Duration = Duration::from_secs(20);
/// Rows that were rendered, by all topics of this process.
static RENDERED: AtomicUsize = AtomicUsize::new(0);

struct Board;

impl Identity for Board {
    const NAME: &'static str = "board";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "A board with a stream";
}

impl Plugin for Board {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().publishes(&["board.note"]).topic("board", frames).routes([
            Route::post("/api/board", publish).public().operation("publish_note"),
            Route::get("/api/board/stream", follow).public().operation("follow_notes"),
        ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn publish(cx: RequestContext<Board>) -> Result<Json<bool>, HandlerError> {
    cx.write(async |tx| Ok(EventBuilder::new("board.note", &json!({})).publish(tx)?)).await?;
    Ok(Json(true))
}

async fn follow(_: RequestContext<Board>) -> Result<Topic, HandlerError> {
    Ok(Topic(StreamPosition::Live.subscription("board")))
}

async fn frames(_: PluginContext<Board>, rows: Vec<TopicRow>) -> Result<Vec<Frame>, HostError> {
    RENDERED.fetch_add(rows.len(), Relaxed);
    rows.iter().map(|row| Frame::new(row.id, row.ts, "note", &json!({}))).collect()
}

#[tokio::test]
async fn nothing_is_rendered_for_nobody_and_all_once_for_many() {
    for gateway in TestGateway::each_database(&[object_module::<Board>()]).await {
        let rendered = || RENDERED.load(Relaxed);
        let before = rendered();
        let write = async || assert_eq!(gateway.send("POST", "/api/board", &[], "").await.status, 200);
        write().await;
        assert_eq!(gateway.events().await.len(), 1);
        let mut readers = Vec::new();
        for _ in 0..3 {
            readers.push(gateway.open_stream("GET", "/api/board/stream", &[], "").await.into_body().into_data_stream());
        }
        // A reader who comes now sees what comes now: the first note is rendered for nobody.
        write().await;
        for reader in &mut readers {
            let arrives = async {
                while !String::from_utf8_lossy(&reader.next().await.unwrap().unwrap()).contains("event: note") {}
            };
            tokio::time::timeout(LIMIT, arrives).await.expect("the note arrives");
        }
        assert_eq!(rendered(), before + 1, "once for three readers");
        drop(readers);
        // The topic sees with the next note that they are gone.
        write().await;
        gateway.events().await;
        let gone = rendered();
        for _ in 0..3 {
            write().await;
        }
        assert_eq!(gateway.events().await.len(), 6);
        assert!(rendered() <= gone + 1, "{} were rendered for nobody", rendered() - gone);
        gateway.stop().await;
    }
}

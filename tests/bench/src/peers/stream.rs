//! Server-sent events on axum: one broadcast channel, one receiver for each reader.

use anyhow::Result;
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::sse::{Event, Sse},
    routing::{get, post},
};
use futures_util::{Stream, StreamExt as _};
use std::sync::Arc;
use tokio::sync::broadcast;
use tokio_stream::wrappers::{BroadcastStream, errors::BroadcastStreamRecvError};

pub const NAME: &str = "axum-stream";
pub const PUBLISH: &str = "/publish";

/// Events that a slow reader may be behind.
const BEHIND_MAX: usize = 1024;

type Sender = broadcast::Sender<Arc<str>>;

pub async fn serve() -> Result<()> {
    let sender: Sender = broadcast::channel(BEHIND_MAX).0;
    let app = Router::new()
        .route("/ready", get(|| async {}))
        .route(PUBLISH, post(publish))
        .route("/api/stream", get(stream))
        .with_state(sender);
    Ok(axum::serve(super::listener().await?, app).await?)
}

async fn publish(State(sender): State<Sender>, event: String) -> StatusCode {
    // Without a reader there is nobody to tell.
    let _ = sender.send(event.into());
    StatusCode::ACCEPTED
}

async fn stream(State(sender): State<Sender>) -> Sse<impl Stream<Item = Result<Event, BroadcastStreamRecvError>>> {
    let events = BroadcastStream::new(sender.subscribe());
    Sse::new(events.map(|event| event.map(|text| Event::default().event("thread.create").data(&*text))))
}

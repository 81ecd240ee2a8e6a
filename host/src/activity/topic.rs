//! A topic: activity rows rendered by a plugin into frames, once, for all readers.

use super::{
    ActivityLog, Filter, SharedFrame,
    ring::{Read, Ring, join},
};
use crate::storage::StorageError;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use plugin_api::manifest::{ActivityRow, Frame};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Turns rows into frames; the plugin's code behind its fence.
pub type Render = Arc<dyn Fn(Vec<ActivityRow>) -> BoxFuture<'static, Result<Vec<Frame>, String>> + Send + Sync>;

#[derive(Clone, Copy, Debug)]
pub struct TopicSettings {
    /// Frames kept in memory.
    pub ring_events: usize,
    pub heartbeat: Duration,
}

/// How long the pump waits before it tries a failed read again.
const RETRY: Duration = Duration::from_secs(1);

/// After an event the pump waits this long for more; one that comes out of silence goes out at once.
const GATHER: Duration = Duration::from_millis(4);

enum Progress {
    Moved,
    Nothing,
}

pub struct Topic {
    pub(super) name: String,
    pub(super) log: ActivityLog,
    pub(super) settings: TopicSettings,
    pub(super) stop: CancellationToken,
    render: Render,
    ring: RwLock<Ring>,
    head: watch::Sender<i64>,
}

#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the topic's plugin could not render: {0}")]
    Render(String),
}

impl Topic {
    /// Starts at the log's end; `stop` ends the pump and every stream.
    pub async fn open(
        name: String,
        log: ActivityLog,
        render: Render,
        settings: TopicSettings,
        stop: CancellationToken,
    ) -> Result<Arc<Self>, StorageError> {
        let position = log.latest_id().await?;
        Ok(Arc::new(Self {
            name,
            log,
            settings,
            stop,
            render,
            ring: RwLock::new(Ring::new(settings.ring_events, position)),
            head: watch::Sender::new(position),
        }))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its plugin has stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Follows the log until the topic is stopped, then tells the readers.
    pub async fn pump(self: Arc<Self>) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.follow_log() => {}
        }
        self.head.send_modify(|_head| {});
    }

    async fn follow_log(&self) {
        let mut wake = self.log.subscribe();
        loop {
            match self.catch_up().await {
                // What comes right behind goes out together: a write to each reader costs far more than what it carries.
                Ok(Progress::Moved) => tokio::time::sleep(GATHER).await,
                Ok(Progress::Nothing) => {
                    if wake.changed().await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(topic = self.name, %error, "a topic cannot follow the activity log");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Takes over a page of the log.
    async fn catch_up(&self) -> Result<Progress, TopicError> {
        let rows = self.log.rows_after(self.head()).await?;
        let Some(last) = rows.last().map(|row| row.id) else { return Ok(Progress::Nothing) };
        let frames = self.frames(rows).await?;
        self.ring.write().push(frames, last);
        self.head.send_replace(last);
        Ok(Progress::Moved)
    }

    pub(super) fn head(&self) -> i64 {
        self.ring.read().head()
    }

    pub(super) fn follow(&self) -> watch::Receiver<i64> {
        self.head.subscribe()
    }

    /// What comes after `position`: from memory, or a page of the log. No bytes and the same position: nothing yet.
    pub(super) async fn read(&self, position: i64, filter: &Filter) -> Result<(Option<Bytes>, i64), TopicError> {
        let read = self.ring.read().read(position, filter);
        if let Read::Ready { bytes, position } = read {
            return Ok((bytes, position));
        }
        let rows = self.log.rows_after(position).await?;
        let reached = rows.last().map_or(position, |row| row.id);
        let frames = self.frames(rows).await?;
        let wanted: Vec<&SharedFrame> = frames.iter().filter(|frame| filter.matches(frame)).collect();
        let size = wanted.iter().map(|frame| frame.bytes.len()).sum();
        Ok((join(&wanted, size), reached))
    }

    async fn frames(&self, rows: Vec<ActivityRow>) -> Result<Vec<SharedFrame>, TopicError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let frames = (self.render)(rows).await.map_err(TopicError::Render)?;
        Ok(frames.into_iter().map(SharedFrame::from).collect())
    }
}

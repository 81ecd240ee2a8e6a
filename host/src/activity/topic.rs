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

    /// Follows the log until the topic is stopped.
    pub async fn pump(self: Arc<Self>) {
        let mut wake = self.log.subscribe();
        loop {
            let failed = match self.catch_up().await {
                Ok(()) => false,
                Err(error) => {
                    tracing::warn!(topic = self.name, %error, "a topic cannot follow the activity log");
                    true
                }
            };
            tokio::select! {
                () = self.stop.cancelled() => return,
                changed = wake.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(RETRY), if failed => {}
            }
        }
    }

    async fn catch_up(&self) -> Result<(), TopicError> {
        loop {
            let rows = self.log.rows_after(self.head()).await?;
            let Some(last) = rows.last().map(|row| row.id) else { return Ok(()) };
            let frames = self.frames(rows).await?;
            self.ring.write().push(frames, last);
            self.head.send_replace(last);
        }
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

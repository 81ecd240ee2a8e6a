//! A topic: activity rows rendered by a plugin into frames, once, for all readers.

use super::{
    ActivityLog, Filter, SharedFrame,
    chunk::{Chunks, chunk},
    reader::{self, Reader},
    ring::{Read, Ring, join},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gateway_storage::StorageError;
use parking_lot::{Mutex, RwLock};
use plugin_api::manifest::{ActivityRow, Frame};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

/// Turns rows into frames; the plugin's code behind its fence.
pub type Render = Arc<dyn Fn(Vec<ActivityRow>) -> BoxFuture<'static, Result<Vec<Frame>, String>> + Send + Sync>;

#[derive(Clone, Copy, Debug)]
pub struct TopicSettings {
    /// Frames kept in memory.
    pub ring_events: usize,
    pub heartbeat: Duration,
}

/// A page of the log on its way: its bytes, if any are wanted, and the position behind it.
pub type Page = BoxFuture<'static, Result<(Option<Bytes>, i64), TopicError>>;

/// How long the pump waits before it tries a failed read again.
const RETRY: Duration = Duration::from_secs(1);

/// Events that follow each other this closely go out together: a write to each reader costs far more than what it carries.
const GATHER: Duration = Duration::from_millis(2);
/// No event waits longer for others.
const GATHER_MAX: Duration = Duration::from_millis(5);

/// Readers that are written to before other tasks get their turn.
const READERS_AT_ONCE: usize = 32;

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
    readers: Mutex<Vec<Weak<Reader>>>,
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
            readers: Mutex::default(),
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
            () = self.keep_awake() => {}
        }
        self.for_readers(Reader::wake).await;
    }

    async fn follow_log(&self) {
        let mut wake = self.log.subscribe();
        loop {
            match self.catch_up().await {
                Ok(Progress::Moved) => {}
                Ok(Progress::Nothing) => {
                    if wake.changed().await.is_err() {
                        return;
                    }
                    gather(&mut wake).await;
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
        let head = self.ring.read().head();
        let rows = self.log.rows_after(head).await?;
        let Some(last) = rows.last().map(|row| row.id) else { return Ok(Progress::Nothing) };
        let frames = self.frames(rows).await?;
        self.ring.write().push(frames, last);
        let mut chunks = Chunks::default();
        self.for_readers(|reader| reader.deliver(self, &mut chunks)).await;
        Ok(Progress::Moved)
    }

    /// Sends a comment to all readers from time to time.
    async fn keep_awake(&self) {
        let mut ticks = tokio::time::interval_at(Instant::now() + self.settings.heartbeat, self.settings.heartbeat);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let ping = chunk(&reader::ping());
            self.for_readers(|reader| reader.ping(&ping)).await;
        }
    }

    async fn for_readers(&self, mut act: impl FnMut(&Reader) + Send) {
        let readers = {
            let mut readers = self.readers.lock();
            readers.retain(|reader| reader.strong_count() > 0);
            readers.clone()
        };
        for some in readers.chunks(READERS_AT_ONCE) {
            some.iter().filter_map(Weak::upgrade).for_each(|reader| act(&reader));
            tokio::task::yield_now().await;
        }
    }

    /// From now on it is handed what is new, and told of the end.
    pub(super) fn admit(&self, reader: &Arc<Reader>) {
        self.readers.lock().push(Arc::downgrade(reader));
    }

    /// What comes after `position`, from memory.
    pub(super) fn read(&self, position: i64, filter: &Filter) -> Read {
        self.ring.read().read(position, filter)
    }

    /// What comes after `position`: a page of the log.
    pub(super) fn page(self: Arc<Self>, position: i64, filter: Filter) -> Page {
        Box::pin(async move {
            let rows = self.log.rows_after(position).await?;
            let reached = rows.last().map_or(position, |row| row.id);
            let frames = self.frames(rows).await?;
            let wanted: Vec<&SharedFrame> = frames.iter().filter(|frame| filter.matches(frame)).collect();
            let size = wanted.iter().map(|frame| frame.bytes.len()).sum();
            Ok((join(&wanted, size), reached))
        })
    }

    async fn frames(&self, rows: Vec<ActivityRow>) -> Result<Vec<SharedFrame>, TopicError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let frames = (self.render)(rows).await.map_err(TopicError::Render)?;
        Ok(frames.into_iter().map(SharedFrame::from).collect())
    }
}

/// Waits until no more comes, but not long.
async fn gather(wake: &mut watch::Receiver<u64>) {
    let end = Instant::now() + GATHER_MAX;
    while Instant::now() < end {
        if tokio::time::timeout(GATHER, wake.changed()).await.is_err() {
            return;
        }
    }
}

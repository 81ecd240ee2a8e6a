//! A topic: activity rows that a plugin renders into frames, once for all readers, and only while there are readers.

use super::{
    ActivityLog,
    chunk::chunk,
    chunk_cache::ChunkCache,
    frame::Filter,
    reader::{REPLAY_BY_TIME_MAX, Reader, ping_comment},
    rendered_log::{Render, RenderedLog, TopicError},
    sink::Sink,
    stream::EventStream,
    stream_limits::StreamSlot,
};
use parking_lot::Mutex;
use plugin_api::manifest::Subscription;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug)]
pub struct TopicSettings {
    /// How many frames stay in memory.
    pub ring_events: usize,
    pub heartbeat: Duration,
}

/// How long the topic waits before it tries a failed read again.
const RETRY: Duration = Duration::from_secs(1);

/// Events that follow each other this closely are sent together: a write to each reader costs far more than its bytes.
const BATCH_GAP: Duration = Duration::from_millis(2);
/// No event waits longer for others.
const BATCH_WAIT_MAX: Duration = Duration::from_millis(5);

/// Where a reader begins; `None` is the end of the log.
struct Start {
    position: Option<i64>,
    /// Whether older events are left out.
    is_cut: bool,
}

/// How many readers are written to before the task yields to others.
const READERS_PER_YIELD: usize = 32;

pub struct Topic {
    name: String,
    log: Arc<RenderedLog>,
    heartbeat: Duration,
    stop: CancellationToken,
    readers: Mutex<Vec<Weak<Reader>>>,
    /// A reader came.
    arrivals: Notify,
}

impl Topic {
    /// `stop` ends the topic and every stream.
    pub fn new(
        name: String,
        log: ActivityLog,
        render: Render,
        settings: TopicSettings,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let log = Arc::new(RenderedLog::new(log, render, settings.ring_events));
        let (readers, arrivals) = (Mutex::default(), Notify::new());
        Arc::new(Self { name, log, heartbeat: settings.heartbeat, stop, readers, arrivals })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its plugin has stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// A stream ends when the topic stops or cannot be read; the client then resumes after the last id it received.
    pub async fn stream(
        &self,
        subscription: &Subscription,
        slot: StreamSlot,
        sink: Option<Weak<dyn Sink>>,
    ) -> Result<EventStream, TopicError> {
        // The log's end, not the ring's: frames of the newest commits may not be rendered yet, and a client that
        // connects now, or resumes after one of them (at another replica), must not get them again.
        let newest = self.log.log().latest_id().await?;
        // A position in the future (another database, a forged header) would silence the stream, so it means "now".
        let start = self.start(subscription).await?;
        let position = start.position.map_or(newest, |start| start.clamp(0, newest));
        let reader = Arc::new(Reader::new(position, start.is_cut, Filter::of(subscription), sink));
        self.readers.lock().push(Arc::downgrade(&reader));
        self.arrivals.notify_one();
        Ok(EventStream::new(self.name.clone(), self.log.clone(), self.stop.clone(), reader, slot))
    }

    async fn start(&self, subscription: &Subscription) -> Result<Start, TopicError> {
        let at = |position, is_cut| Ok(Start { position, is_cut });
        match (subscription.after_id, subscription.after_ts) {
            (Some(id), _) => at(Some(id), false),
            (None, Some(ts)) => {
                let log = self.log.log();
                match log.id_before_newest(ts, &subscription.row_types, REPLAY_BY_TIME_MAX).await? {
                    Some(id) => at(Some(id), true),
                    None => at(log.id_before(ts).await?, false),
                }
            }
            (None, None) => at(None, false),
        }
    }

    /// Follows the log until the topic is stopped, then wakes the readers so that they end.
    pub async fn run(self: Arc<Self>) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.follow_log() => {}
            () = self.send_heartbeats() => {}
        }
        self.for_each_reader(Reader::wake_body).await;
    }

    async fn follow_log(&self) {
        let mut wake = None;
        // Whether events were left out, because nobody would have read their frames.
        let mut is_behind = true;
        loop {
            while !self.has_readers() {
                // Other gateways need not tell what nobody here reads.
                wake = None;
                self.arrivals.notified().await;
                is_behind = true;
            }
            let wake = wake.get_or_insert_with(|| self.log.log().subscribe());
            // After a skip as after new frames: a reader may wait for what is before the end.
            let followed =
                if is_behind { self.log.skip_to_end().await.map(|()| true) } else { self.log.advance().await };
            match followed {
                Ok(has_new) => {
                    is_behind = false;
                    if has_new {
                        let mut chunks = ChunkCache::default();
                        self.for_each_reader(|reader| reader.deliver(&self.log, &mut chunks)).await;
                        continue;
                    }
                    if wake.changed().await.is_err() {
                        return;
                    }
                    wait_for_batch(wake).await;
                }
                Err(error) => {
                    tracing::warn!(topic = self.name, %error, "a topic cannot follow the activity log");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    fn has_readers(&self) -> bool {
        self.readers.lock().iter().any(|reader| reader.strong_count() > 0)
    }

    async fn send_heartbeats(&self) {
        let mut ticks = tokio::time::interval_at(Instant::now() + self.heartbeat, self.heartbeat);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let ping = chunk(&ping_comment());
            self.for_each_reader(|reader| reader.ping(&ping)).await;
        }
    }

    async fn for_each_reader(&self, mut act: impl FnMut(&Reader) + Send) {
        let readers = {
            let mut readers = self.readers.lock();
            readers.retain(|reader| reader.strong_count() > 0);
            readers.clone()
        };
        for batch in readers.chunks(READERS_PER_YIELD) {
            batch.iter().filter_map(Weak::upgrade).for_each(|reader| act(&reader));
            tokio::task::yield_now().await;
        }
    }
}

/// Waits until the log has been quiet for [`BATCH_GAP`], at most for [`BATCH_WAIT_MAX`].
async fn wait_for_batch(wake: &mut watch::Receiver<u64>) {
    let end = Instant::now() + BATCH_WAIT_MAX;
    while Instant::now() < end {
        if tokio::time::timeout(BATCH_GAP, wake.changed()).await.is_err() {
            return;
        }
    }
}

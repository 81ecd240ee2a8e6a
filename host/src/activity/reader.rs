//! One open stream: a position in a topic, nothing else. Replay and live are the same reading, so there is no seam
//! between them where an event could be lost or doubled.

use super::{Filter, Topic};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use parking_lot::Mutex;
use plugin_api::manifest::Subscription;
use std::{collections::HashMap, net::IpAddr, sync::Arc};
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior},
};

/// `retry` stands in the block of the first event: alone it would be an event without data to some clients.
const OPENING: &[u8] = b"retry: 5000\n: stream open\n";
const CLOSING: &[u8] = b": the stream ends here; resume after the last id\n\n";

/// How many streams are open, together and by client.
#[derive(Clone, Debug)]
pub struct StreamLimits {
    counts: Arc<Mutex<Counts>>,
    total_max: usize,
    per_ip_max: usize,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_ip: HashMap<IpAddr, usize>,
}

/// A place among the open streams; given back when dropped.
#[derive(Debug)]
pub struct StreamSlot {
    limits: StreamLimits,
    ip: IpAddr,
}

impl StreamLimits {
    pub fn new(total_max: usize, per_ip_max: usize) -> Self {
        Self { counts: Arc::default(), total_max, per_ip_max }
    }

    pub fn open(&self, ip: IpAddr) -> Option<StreamSlot> {
        let mut counts = self.counts.lock();
        let of_ip = counts.by_ip.get(&ip).copied().unwrap_or_default();
        if counts.total >= self.total_max || of_ip >= self.per_ip_max {
            return None;
        }
        counts.total += 1;
        counts.by_ip.insert(ip, of_ip + 1);
        Some(StreamSlot { limits: self.clone(), ip })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut counts = self.limits.counts.lock();
        counts.total -= 1;
        if let Some(of_ip) = counts.by_ip.get_mut(&self.ip) {
            *of_ip -= 1;
            if *of_ip == 0 {
                counts.by_ip.remove(&self.ip);
            }
        }
    }
}

struct Reader {
    topic: Arc<Topic>,
    filter: Filter,
    position: i64,
    head: watch::Receiver<i64>,
    heartbeat: Interval,
    state: State,
    _slot: StreamSlot,
}

#[derive(PartialEq, Eq)]
enum State {
    New,
    Open,
    Closed,
}

impl Topic {
    /// The bytes of one stream. Ends when the topic stops or cannot be read; the client then resumes by the last id.
    pub async fn stream(
        self: &Arc<Self>,
        subscription: &Subscription,
        slot: StreamSlot,
    ) -> Result<impl Stream<Item = Bytes> + Send + use<>, super::topic::TopicError> {
        let head = self.follow();
        // The log's end, not the topic's: frames of what was committed a moment ago may still be on their way, and who
        // comes now, or resumes after one of them (at another replica), must not get them again.
        let newest = self.log.latest_id().await?;
        // A position from the future (another database, a forged header) would silence the stream: it means "now".
        let position = self.start(subscription).await?.map_or(newest, |start| start.clamp(0, newest));
        let mut heartbeat = tokio::time::interval_at(Instant::now() + self.settings.heartbeat, self.settings.heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let filter = Filter::of(subscription);
        let reader = Reader { topic: self.clone(), filter, position, head, heartbeat, state: State::New, _slot: slot };
        Ok(stream::unfold(reader, |mut reader| async move { reader.next().await.map(|bytes| (bytes, reader)) }))
    }

    async fn start(&self, subscription: &Subscription) -> Result<Option<i64>, super::topic::TopicError> {
        match (subscription.after_id, subscription.after_ts) {
            (Some(id), _) => Ok(Some(id)),
            (None, Some(ts)) => Ok(self.log.id_before(ts).await?),
            (None, None) => Ok(None),
        }
    }
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        match self.state {
            State::New => {
                self.state = State::Open;
                return Some(Bytes::from_static(OPENING));
            }
            State::Closed => return None,
            State::Open => {}
        }
        loop {
            // Seen before reading: a head that moves while we read wakes us again.
            self.head.borrow_and_update();
            match self.topic.read(self.position, &self.filter).await {
                Ok((bytes, position)) => {
                    let moved = position != self.position;
                    self.position = position;
                    match bytes {
                        Some(bytes) => return Some(bytes),
                        None if moved => continue,
                        None => {}
                    }
                }
                Err(error) => {
                    tracing::warn!(topic = self.topic.name, %error, "a stream ends early; its client will resume");
                    return None;
                }
            }
            // The pump moves the head once more when it stops.
            if self.topic.is_stopped() {
                self.state = State::Closed;
                return Some(Bytes::from_static(CLOSING));
            }
            tokio::select! {
                changed = self.head.changed() => if changed.is_err() { return None },
                _ = self.heartbeat.tick() => return Some(ping()),
            }
        }
    }
}

/// A comment of one line: it keeps proxies awake and is no event to anybody.
fn ping() -> Bytes {
    format!(": ping {}\n", crate::clock::Clock::System.now_s()).into()
}

//! One open stream: a position in a topic, nothing else. Replay and live are the same reading, so there is no seam
//! between them where an event could be lost or doubled.
//!
//! A reader reads by itself, as the body of an answer, until it has all there is. From then on the topic hands it what is
//! new; on HTTP/1.1 straight into its socket. Whoever of the two moves the position holds the reader's lock.

use super::{
    Filter, StreamSlot, Topic,
    chunk::{Chunks, chunk},
    ring::Read,
    sink::{BypassBytes, Sink, WriteOutcome},
    topic::{Page, TopicError},
};
use bytes::Bytes;
use futures_util::Stream;
use parking_lot::Mutex;
use plugin_api::manifest::Subscription;
use std::{
    pin::Pin,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    task::{Context, Poll, Waker, ready},
};

/// `retry` stands in the block of the first event: alone it would be an event without data to some clients.
const OPENING: &[u8] = b"retry: 5000\n: stream open\n";
const CLOSING: &[u8] = b": the stream ends here; resume after the last id\n\n";

pub struct Reader {
    filter: Filter,
    /// For direct writes, on connections that take them.
    sink: Option<Weak<dyn Sink>>,
    bypass_bytes: BypassBytes,
    state: Mutex<State>,
}

struct State {
    position: i64,
    phase: Phase,
    /// The body waits, and has all there is up to the position.
    parked: Option<Waker>,
    is_ping_due: bool,
}

#[derive(PartialEq, Eq)]
enum Phase {
    New,
    Open,
    Closed,
}

/// The bytes of one stream.
pub struct Events {
    topic: Arc<Topic>,
    reader: Arc<Reader>,
    /// A page of the log, for a position that the ring does not reach.
    page: Option<Page>,
    _slot: StreamSlot,
}

impl Topic {
    /// Ends when the topic stops or cannot be read; the client then resumes by the last id.
    pub async fn stream(
        self: &Arc<Self>,
        subscription: &Subscription,
        slot: StreamSlot,
        sink: Option<Weak<dyn Sink>>,
    ) -> Result<Events, TopicError> {
        // The log's end, not the topic's: frames of what was committed a moment ago may still be on their way, and who
        // comes now, or resumes after one of them (at another replica), must not get them again.
        let newest = self.log.latest_id().await?;
        // A position from the future (another database, a forged header) would silence the stream: it means "now".
        let position = self.start(subscription).await?.map_or(newest, |start| start.clamp(0, newest));
        let state = State { position, phase: Phase::New, parked: None, is_ping_due: false };
        let (filter, bypass_bytes) = (Filter::of(subscription), BypassBytes::default());
        let reader = Arc::new(Reader { filter, sink, bypass_bytes, state: Mutex::new(state) });
        self.admit(&reader);
        Ok(Events { topic: self.clone(), reader, page: None, _slot: slot })
    }

    async fn start(&self, subscription: &Subscription) -> Result<Option<i64>, TopicError> {
        match (subscription.after_id, subscription.after_ts) {
            (Some(id), _) => Ok(Some(id)),
            (None, Some(ts)) => Ok(self.log.id_before(ts).await?),
            (None, None) => Ok(None),
        }
    }
}

impl Events {
    /// Counts what goes to the socket without passing the layers that see an answer.
    pub fn bypass_bytes(&self) -> BypassBytes {
        self.reader.bypass_bytes.clone()
    }
}

impl Stream for Events {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        loop {
            if let Some(page) = &mut this.page {
                let read = ready!(page.as_mut().poll(cx));
                this.page = None;
                match read {
                    Ok((bytes, position)) => {
                        this.reader.state.lock().position = position;
                        if let Some(bytes) = bytes {
                            return this.reader.through_hyper(bytes);
                        }
                    }
                    Err(error) => {
                        tracing::warn!(topic = this.topic.name, %error, "a stream ends early; its client will resume");
                        return Poll::Ready(None);
                    }
                }
            }
            match this.reader.poll(&this.topic, cx) {
                Some(polled) => return polled,
                None => {
                    let position = this.reader.state.lock().position;
                    this.page = Some(this.topic.clone().page(position, this.reader.filter.clone()));
                }
            }
        }
    }
}

impl Reader {
    /// What the body does next; `None` when the ring does not reach back to the position.
    fn poll(&self, topic: &Topic, cx: &mut Context<'_>) -> Option<Poll<Option<Bytes>>> {
        let mut state = self.state.lock();
        state.parked = None;
        match state.phase {
            Phase::New => {
                state.phase = Phase::Open;
                return Some(self.through_hyper(Bytes::from_static(OPENING)));
            }
            Phase::Closed => return Some(Poll::Ready(None)),
            Phase::Open => {}
        }
        loop {
            if self.sink().is_some_and(|sink| sink.has_unsent()) {
                return Some(Poll::Pending);
            }
            let (bytes, position) = match topic.read(state.position, &self.filter) {
                Read::TooOld => return None,
                Read::Ready { bytes, position } => (bytes, position),
            };
            let Some(bytes) = bytes else {
                state.position = position;
                return Some(self.rest(&mut state, topic, cx));
            };
            match self.sink().map(|sink| self.send(&*sink, &chunk(&bytes))) {
                Some(WriteOutcome::Complete | WriteOutcome::Partial) => state.position = position,
                Some(WriteOutcome::Busy) | None => {
                    state.position = position;
                    return Some(self.through_hyper(bytes));
                }
            }
        }
    }

    /// Nothing is new.
    fn rest(&self, state: &mut State, topic: &Topic, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        if topic.is_stopped() {
            state.phase = Phase::Closed;
            return self.through_hyper(Bytes::from_static(CLOSING));
        }
        if std::mem::take(&mut state.is_ping_due) {
            return self.through_hyper(ping());
        }
        state.parked = Some(cx.waker().clone());
        Poll::Pending
    }

    fn through_hyper(&self, bytes: Bytes) -> Poll<Option<Bytes>> {
        if let Some(sink) = self.sink() {
            sink.leave_to_hyper();
        }
        Poll::Ready(Some(bytes))
    }

    fn send(&self, sink: &dyn Sink, chunk: &Bytes) -> WriteOutcome {
        let sent = sink.send(chunk);
        if sent != WriteOutcome::Busy {
            self.bypass_bytes.0.fetch_add(chunk.len() as u64, Relaxed);
        }
        sent
    }

    fn sink(&self) -> Option<Arc<dyn Sink>> {
        self.sink.as_ref().and_then(Weak::upgrade)
    }

    /// Hands it what is new. One that is not parked comes by itself.
    pub fn deliver(&self, topic: &Topic, chunks: &mut Chunks) {
        let mut state = self.state.lock();
        if state.parked.is_none() {
            return;
        }
        let Some(sink) = self.sink() else { return state.wake() };
        loop {
            let Some((bytes, position)) = chunks.after(topic, state.position, &self.filter) else {
                return state.wake();
            };
            let Some(bytes) = bytes else {
                state.position = position;
                return;
            };
            match self.send(&*sink, &bytes) {
                WriteOutcome::Complete => state.position = position,
                WriteOutcome::Partial => {
                    state.position = position;
                    return state.wake();
                }
                WriteOutcome::Busy => return state.wake(),
            }
        }
    }

    /// Keeps proxies awake where nothing happens.
    pub fn ping(&self, ping: &Bytes) {
        let mut state = self.state.lock();
        if state.parked.is_none() {
            return;
        }
        let sent = self.sink().map_or(WriteOutcome::Busy, |sink| self.send(&*sink, ping));
        if sent != WriteOutcome::Complete {
            state.is_ping_due = sent == WriteOutcome::Busy;
            state.wake();
        }
    }

    /// Lets the body look for itself.
    pub fn wake(&self) {
        self.state.lock().wake();
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.parked.take() {
            waker.wake();
        }
    }
}

/// A comment of one line: it keeps proxies awake and is no event to anybody.
pub fn ping() -> Bytes {
    format!(": ping {}\n", gateway_clock::Clock::System.now_s()).into()
}

//! The body of a streaming response.
//!
//! Replay and live events are read by the same loop, so there is no seam between them where an event could be lost or
//! sent twice.

use super::{
    reader::Reader,
    rendered_log::{PageRead, RenderedLog},
    sink::BypassBytes,
    stream_limits::StreamSlot,
};
use bytes::Bytes;
use futures_util::Stream;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio_util::sync::CancellationToken;

pub struct EventStream {
    topic: String,
    log: Arc<RenderedLog>,
    stop: CancellationToken,
    reader: Arc<Reader>,
    /// A read of the log, for a position that is older than the ring.
    page: Option<PageRead>,
    _slot: StreamSlot,
}

impl EventStream {
    pub(crate) fn new(
        topic: String,
        log: Arc<RenderedLog>,
        stop: CancellationToken,
        reader: Arc<Reader>,
        slot: StreamSlot,
    ) -> Self {
        Self { topic, log, stop, reader, page: None, _slot: slot }
    }

    /// Counts the bytes that are written directly to the socket and that no middleware sees.
    pub fn bypass_bytes(&self) -> BypassBytes {
        self.reader.bypass_bytes().clone()
    }
}

impl Stream for EventStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        loop {
            if let Some(page) = &mut this.page {
                let read = ready!(page.as_mut().poll(cx));
                this.page = None;
                match read {
                    Ok((bytes, position)) => {
                        if let Some(poll) = this.reader.take_page(bytes, position) {
                            return poll;
                        }
                    }
                    Err(error) => {
                        tracing::warn!(topic = this.topic, %error, "a stream ends early; its client will resume");
                        return Poll::Ready(None);
                    }
                }
            }
            match this.reader.poll(&this.log, &this.stop, cx) {
                Some(poll) => return poll,
                None => {
                    let (position, filter) = (this.reader.position(), this.reader.filter().clone());
                    this.page = Some(this.log.clone().read_page(position, filter));
                }
            }
        }
    }
}

//! Bytes on their way, each with the time when it arrives.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

pub struct DelayQueue {
    delay: Duration,
    chunks: VecDeque<(Instant, Vec<u8>)>,
}

impl DelayQueue {
    pub fn new(delay: Duration) -> Self {
        Self { delay, chunks: VecDeque::new() }
    }

    pub fn push(&mut self, now: Instant, bytes: &[u8]) {
        self.chunks.push_back((now + self.delay, bytes.to_vec()));
    }

    /// When the next bytes arrive, if any are on their way.
    pub fn next_due(&self) -> Option<Instant> {
        self.chunks.front().map(|(due, _)| *due)
    }

    /// All that has arrived by now, in the order in which it was sent.
    pub fn take_due(&mut self, now: Instant) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some((_, chunk)) = self.chunks.pop_front_if(|(due, _)| *due <= now) {
            bytes.extend(chunk);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_micros(500);

    #[test]
    fn what_is_sent_together_arrives_together_and_in_order() {
        let (mut queue, sent) = (DelayQueue::new(DELAY), Instant::now());
        queue.push(sent, b"one ");
        queue.push(sent, b"two ");
        queue.push(sent + DELAY / 2, b"three");
        assert_eq!(queue.next_due(), Some(sent + DELAY));
        assert_eq!(queue.take_due(sent + DELAY - Duration::from_nanos(1)), b"");
        assert_eq!(queue.take_due(sent + DELAY), b"one two ");
        assert_eq!(queue.next_due(), Some(sent + DELAY * 3 / 2));
        assert_eq!(queue.take_due(sent + DELAY * 2), b"three");
        assert_eq!(queue.next_due(), None);
    }
}

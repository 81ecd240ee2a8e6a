//! The newest frames of a topic in memory.
//!
//! The rule: for every position from `floor` on, the ring holds all frames behind it up to `head` whose events are not
//! retracted.

use super::frame::{Filter, SharedFrame};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// How many bytes of frames one read returns at most, unless a single frame is larger.
const READ_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Ring {
    frames: VecDeque<SharedFrame>,
    capacity: usize,
    floor: i64,
    head: i64,
}

/// The outcome of a read after a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RingRead {
    /// The matching frames, None when there are none, and the position behind them.
    Ready { bytes: Option<Bytes>, position: i64 },
    /// The position is older than the ring: the log has to be read.
    TooOld,
}

impl Ring {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { frames: VecDeque::new(), capacity: capacity.max(1), floor: 0, head: 0 }
    }

    /// Forgets all frames and goes on at `position`.
    pub(crate) fn restart(&mut self, position: i64) {
        self.frames.clear();
        (self.floor, self.head) = (position, position);
    }

    pub(crate) fn head(&self) -> i64 {
        self.head
    }

    /// Adds the frames of the rows up to `head`.
    pub(crate) fn push(&mut self, frames: Vec<SharedFrame>, head: i64) {
        for frame in frames {
            if self.frames.len() == self.capacity
                && let Some(oldest) = self.frames.pop_front()
            {
                self.floor = oldest.id;
            }
            self.frames.push_back(frame);
        }
        self.head = self.head.max(head);
    }

    pub(crate) fn floor(&self) -> i64 {
        self.floor
    }

    /// Removes the frames of retracted events; `ids` in ascending order.
    pub(crate) fn retract(&mut self, ids: &[i64]) {
        self.frames.retain(|frame| ids.binary_search(&frame.id).is_err());
    }

    pub(crate) fn read(&self, position: i64, filter: &Filter) -> RingRead {
        if position < self.floor {
            return RingRead::TooOld;
        }
        let start = self.frames.partition_point(|frame| frame.id <= position);
        let mut end = self.head.max(position);
        let mut matching: Vec<&SharedFrame> = Vec::new();
        let mut size = 0;
        for frame in self.frames.range(start..) {
            if !filter.matches(frame) {
                continue;
            }
            if size > 0 && size + frame.bytes.len() > READ_BYTES_MAX {
                end = matching.last().map_or(position, |last| last.id);
                break;
            }
            size += frame.bytes.len();
            matching.push(frame);
        }
        RingRead::Ready { bytes: concat(&matching, size), position: end }
    }
}

/// A single frame is shared without a copy; several are copied into one buffer.
pub(crate) fn concat(frames: &[&SharedFrame], size: usize) -> Option<Bytes> {
    match frames {
        [] => None,
        [only] => Some(only.bytes.clone()),
        several => {
            let mut concatenated = BytesMut::with_capacity(size);
            several.iter().for_each(|frame| concatenated.extend_from_slice(&frame.bytes));
            Some(concatenated.freeze())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::abi::Frame;

    fn frame(id: i64, event: &str) -> SharedFrame {
        Frame { id, ts: 0, event: event.into(), data: "{}".into(), labels: Default::default() }.into()
    }

    fn ids(read: RingRead) -> (Vec<i64>, i64) {
        let RingRead::Ready { bytes, position } = read else { return (vec![-1], -1) };
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let ids = text.lines().filter_map(|line| line.strip_prefix("id: ")).filter_map(|id| id.parse().ok()).collect();
        (ids, position)
    }

    #[test]
    fn readers_get_everything_after_their_position_once() {
        let mut ring = Ring::new(10);
        ring.push(vec![frame(3, "a")], 3);
        ring.restart(5);
        ring.push(vec![frame(6, "a"), frame(8, "a")], 9);
        let all = Filter::default();
        assert_eq!(ids(ring.read(5, &all)), (vec![6, 8], 9));
        assert_eq!(ids(ring.read(6, &all)), (vec![8], 9));
        assert_eq!(ids(ring.read(9, &all)), (vec![], 9));
        assert_eq!(ring.read(4, &all), RingRead::TooOld);
    }

    #[test]
    fn positions_before_the_oldest_frame_are_too_old() {
        let mut ring = Ring::new(2);
        ring.push((1..=5).map(|id| frame(id, "a")).collect(), 5);
        assert_eq!(ring.read(2, &Filter::default()), RingRead::TooOld);
        assert_eq!(ids(ring.read(3, &Filter::default())), (vec![4, 5], 5));
    }

    #[test]
    fn retracted_events_are_left_out_of_a_replay() {
        let mut ring = Ring::new(10);
        ring.push((1..=5).map(|id| frame(id, "a")).collect(), 5);
        ring.retract(&[2, 5, 9]);
        assert_eq!(ids(ring.read(1, &Filter::default())), (vec![3, 4], 5));
    }

    #[test]
    fn a_long_backlog_comes_in_several_writes_without_a_gap() {
        let mut ring = Ring::new(100_000);
        ring.push((1..=5000).map(|id| frame(id, "a")).collect(), 5000);
        let (mut position, mut seen) = (0, Vec::new());
        while position < 5000 {
            let (more, next) = ids(ring.read(position, &Filter::default()));
            assert!(next > position);
            (position, seen) = (next, [seen, more].concat());
        }
        assert_eq!(seen, (1..=5000).collect::<Vec<i64>>());
    }
}

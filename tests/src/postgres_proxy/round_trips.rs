//! Counts how often a client waits for the server.
//!
//! The rule: a round trip begins when the client sends something after the answers to all that it has sent before. However many
//! messages it sends until then are one.

use super::{
    frames::{BIND, EXECUTE, Frame, PARSE, QUERY, READY_FOR_QUERY, SYNC, TERMINATE},
    session::lock,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// What was sent together: the SQL of the statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    pub executed: Vec<String>,
    /// Sent to be parsed: under a name, or together with their execution.
    pub parsed: Vec<String>,
    /// How often the server is asked to send what it has.
    pub syncs: usize,
}

/// Of all connections.
pub type RoundTrips = Arc<Mutex<Vec<RoundTrip>>>;

/// One connection.
pub struct RoundTripCounter {
    all: RoundTrips,
    /// The place of the one that has begun and not ended.
    open: Option<usize>,
    /// Answers that have not ended.
    unanswered: usize,
    /// Statements came, and what asks for their answers did not yet.
    is_unsynced: bool,
    /// SQL by the name of a prepared statement.
    prepared: HashMap<String, String>,
}

impl RoundTripCounter {
    /// Of a connection that has begun: that answer ends as others do.
    pub fn new(all: RoundTrips) -> Self {
        let place = {
            let mut all = lock(&all);
            all.push(RoundTrip::default());
            all.len() - 1
        };
        Self { all, open: Some(place), unanswered: 1, is_unsynced: false, prepared: HashMap::new() }
    }

    /// Messages of the client, as many as came at once.
    pub fn note_requests(&mut self, frames: &[Frame]) {
        // Nobody answers the end of a connection.
        for frame in frames.iter().filter(|frame| frame.kind() != TERMINATE) {
            self.note_state(frame.kind());
            let mut all = lock(&self.all);
            let place = *self.open.get_or_insert(all.len());
            if place == all.len() {
                all.push(RoundTrip::default());
            }
            let Some(round_trip) = all.get_mut(place) else { continue };
            round_trip.syncs += usize::from([QUERY, SYNC].contains(&frame.kind()));
            match frame.kind() {
                QUERY => round_trip.executed.push(frame.text(0)),
                BIND => round_trip.executed.push(self.prepared.get(&frame.text(1)).cloned().unwrap_or_default()),
                PARSE => {
                    round_trip.parsed.push(frame.text(1));
                    self.prepared.insert(frame.text(0), frame.text(1));
                }
                _ => {}
            }
        }
    }

    /// Messages of the server.
    pub fn note_answers(&mut self, frames: &[Frame]) {
        for _ in frames.iter().filter(|frame| frame.kind() == READY_FOR_QUERY) {
            self.unanswered = self.unanswered.saturating_sub(1);
            if self.unanswered == 0 && !self.is_unsynced {
                self.open = None;
            }
        }
    }

    fn note_state(&mut self, kind: u8) {
        match kind {
            QUERY | SYNC => {
                self.unanswered += 1;
                self.is_unsynced = false;
            }
            PARSE | BIND | EXECUTE => self.is_unsynced = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8) -> Frame {
        Frame::new(kind, &[]).unwrap()
    }

    fn bind(name: &str) -> Frame {
        Frame::new(BIND, format!("\0{name}\0").as_bytes()).unwrap()
    }

    #[test]
    fn what_is_sent_before_the_last_answer_is_one_round_trip() {
        let all = RoundTrips::default();
        let mut counter = RoundTripCounter::new(all.clone());
        let mut other = RoundTripCounter::new(all.clone());
        let ready = || message(READY_FOR_QUERY);
        counter.note_answers(&[message(b'R'), ready()]);
        other.note_answers(&[ready()]);

        let parse = Frame::new(PARSE, b"s1\0SELECT 1\0\0\0").unwrap();
        counter.note_requests(&[parse, message(SYNC)]);
        counter.note_answers(&[ready()]);
        counter.note_requests(&[Frame::query("BEGIN").unwrap(), bind("s1")]);
        other.note_requests(&[Frame::query("SELECT 2").unwrap()]);
        // The rest of what came in two pieces, and an answer that is not the last one.
        counter.note_answers(&[ready()]);
        counter.note_requests(&[message(SYNC)]);
        counter.note_requests(&[Frame::query("COMMIT").unwrap()]);
        counter.note_answers(&[ready(), ready()]);
        counter.note_requests(&[message(TERMINATE)]);

        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let round_trip = |executed: &[&str], parsed: &[&str], syncs| RoundTrip {
            executed: texts(executed),
            parsed: texts(parsed),
            syncs,
        };
        let (start, whole) = (RoundTrip::default(), ["BEGIN", "SELECT 1", "COMMIT"]);
        let expected = [
            start.clone(),
            start,
            round_trip(&[], &["SELECT 1"], 1),
            round_trip(&whole, &[], 3),
            round_trip(&["SELECT 2"], &[], 1),
        ];
        assert_eq!(*lock(&all), expected);
    }
}

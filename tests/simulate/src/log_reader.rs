//! A client that follows the stream of activity of one gateway over kills, from the last id that it got.

use crate::{
    dice::Dice,
    fault::Fault,
    ledger::Ledger,
    replica::{Part, Request},
    site::Site,
    trace::Trace,
};
use std::{cell::RefCell, rc::Rc, time::Duration};

pub struct LogReader {
    pub site: Rc<Site>,
    /// Of the gateway, and of its stream in the ledger.
    pub place: usize,
    pub ledger: Rc<RefCell<Ledger>>,
    pub trace: Trace,
    pub dice: Dice,
    /// An event that a planted fault keeps back until the next one.
    pub kept: Option<i64>,
}

impl LogReader {
    /// Follows for ever: its task is dropped.
    pub async fn run(mut self) {
        loop {
            self.site.wait_until_back(Duration::from_millis(self.dice.below(3000))).await;
            self.follow().await;
        }
    }

    /// Until the stream breaks off.
    async fn follow(&mut self) {
        let last = self.ledger.borrow().streams[self.place].last().copied().unwrap_or_default();
        let is_late = self.site.fault() == Some(Fault::StreamResumesLate) && last > 0;
        let position = (last + i64::from(is_late)).to_string();
        self.record(&format!("from {position}"));
        let request = Request::get("/api/stream").header("last-event-id", position);
        let Some((mut parts, mut life)) = self.site.open_at(self.place, request) else { return };
        let mut unread = String::new();
        loop {
            let part = tokio::select! {
                biased;
                _ = life.changed() => return,
                part = parts.recv() => part,
            };
            match part {
                Some(Part::Head(200)) => {}
                Some(Part::Data(data)) => {
                    unread.push_str(&String::from_utf8_lossy(&data));
                    self.take(&mut unread);
                }
                other => return self.record(&format!("ends {other:?}")),
            }
        }
    }

    /// Takes the whole events out of what came.
    fn take(&mut self, unread: &mut String) {
        let mut ids = Vec::new();
        while let Some(end) = unread.find("\n\n") {
            let event: String = unread.drain(..end + 2).collect();
            let id = event.lines().find_map(|line| line.strip_prefix("id:")?.trim().parse::<i64>().ok());
            ids.extend(id);
        }
        self.disturb(&mut ids);
        for id in ids {
            self.record(&format!("event {id}"));
            self.ledger.borrow_mut().streams[self.place].push(id);
        }
    }

    fn record(&self, event: &str) {
        self.trace.record(&format!("reader{}", self.place), event);
    }

    fn disturb(&mut self, ids: &mut Vec<i64>) {
        if ids.is_empty() {
            return;
        }
        ids.extend(self.kept.take());
        if !self.dice.one_in(8) {
            return;
        }
        match self.site.fault() {
            Some(Fault::StreamLosesEvent) => drop(ids.pop()),
            Some(Fault::StreamRepeatsEvent) => ids.extend(ids.last().copied()),
            Some(Fault::StreamSwapsEvents) => self.kept = ids.pop(),
            _ => {}
        }
    }
}

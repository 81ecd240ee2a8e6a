//! A client that follows the stream of activity of one gateway over kills, from the last id that it got.

use crate::{
    client::Client,
    fault::Fault,
    replica::{Part, Request},
};
use http::StatusCode;

pub struct LogReader {
    pub client: Client,
    /// Of the gateway, and of its stream in the ledger.
    pub place: usize,
    /// An event that a planted fault keeps back until the next one.
    pub kept: Option<i64>,
}

impl LogReader {
    /// Follows for ever: its task is dropped.
    pub async fn run(mut self) {
        loop {
            self.client.wait_until_back(0, 3000).await;
            self.follow().await;
        }
    }

    /// Until the stream breaks off.
    async fn follow(&mut self) {
        let last = self.client.ledger.borrow().streams[self.place].last().copied().unwrap_or_default();
        let is_late = self.client.site.fault() == Some(Fault::StreamResumesLate) && last > 0;
        let position = (last + i64::from(is_late)).to_string();
        self.client.record(&format!("from {position}"));
        let request = Request::get("/api/stream").header("last-event-id", position);
        let Some((mut parts, mut life)) = self.client.site.open_at(self.place, request) else { return };
        let mut unread = String::new();
        loop {
            let part = tokio::select! {
                biased;
                _ = life.changed() => return,
                part = parts.recv() => part,
            };
            match part {
                Some(Part::Head(StatusCode::OK, _)) => {}
                Some(Part::Data(data)) => {
                    unread.push_str(&String::from_utf8_lossy(&data));
                    self.take(&mut unread);
                }
                Some(Part::Head(status, _)) => return self.client.record(&format!("ends {status}")),
                other => return self.client.record(&format!("ends {other:?}")),
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
            self.client.record(&format!("event {id}"));
            self.client.ledger.borrow_mut().streams[self.place].push(id);
        }
    }

    fn disturb(&mut self, ids: &mut Vec<i64>) {
        if ids.is_empty() {
            return;
        }
        ids.extend(self.kept.take());
        if !self.client.dice.one_in(8) {
            return;
        }
        match self.client.site.fault() {
            Some(Fault::StreamLosesEvent) => drop(ids.pop()),
            Some(Fault::StreamRepeatsEvent) => ids.extend(ids.last().copied()),
            Some(Fault::StreamSwapsEvents) => self.kept = ids.pop(),
            _ => {}
        }
    }
}

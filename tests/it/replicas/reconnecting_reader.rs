//! A reader of the activity stream that goes on at another gateway when its stream ends, as browsers do.

use crate::e2e::{Part, Site, StreamReader};
use std::time::{Duration, Instant};

/// Of all that one call reads: some loads restart the database several times.
const LIMIT: Duration = Duration::from_secs(150);
/// Before the next gateway is tried.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Default)]
pub struct ReconnectingReader {
    /// Ids in the order in which they came, since the beginning of the log.
    pub ids: Vec<i64>,
    /// Streams that were opened.
    pub streams: usize,
}

impl ReconnectingReader {
    /// Reads up to the event with this text in its data. It begins at the first site, and goes on at the next one after so many
    /// events and whenever a stream ends or breaks off.
    pub async fn read_to(&mut self, sites: &[Site], last: &str, events_per_stream: usize) {
        let started = Instant::now();
        for site in sites.iter().cycle() {
            assert!(started.elapsed() < LIMIT, "nobody tells {last:?}; {} ids until now", self.ids.len());
            let Some(stream) = self.open(site).await else {
                // It is dead, or has no database at the moment.
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if self.read(stream, last, events_per_stream).await {
                return;
            }
        }
    }

    /// Each second time as a browser does by itself, and else as a new page does.
    async fn open(&mut self, site: &Site) -> Option<StreamReader> {
        let position = self.ids.last().copied().unwrap_or_default();
        let path = if self.streams.is_multiple_of(2) {
            format!("/api/stream?sinceId={position}")
        } else {
            "/api/stream".to_owned()
        };
        let mut request = site.request(reqwest::Method::GET, &path).header("accept", "text/event-stream");
        if !self.streams.is_multiple_of(2) {
            request = request.header("last-event-id", position);
        }
        let response = crate::e2e::in_time(request.send()).await.ok()?;
        self.streams += 1;
        (response.status() == 200).then(|| StreamReader::new(response))
    }

    /// Whether the last event came.
    async fn read(&mut self, mut stream: StreamReader, last: &str, events_max: usize) -> bool {
        let mut events = 0;
        while let Ok(Some(part)) = stream.try_next().await {
            let Part::Event(event) = part else { continue };
            self.ids.push(event.id);
            events += 1;
            if event.data.to_string().contains(last) {
                return true;
            }
            if events >= events_max {
                return false;
            }
        }
        false
    }
}

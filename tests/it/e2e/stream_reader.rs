//! Reads server-sent events the way the standard says, comments included.

use super::site::in_time;
use plugin_testing::Value;

pub struct StreamReader {
    response: reqwest::Response,
    /// Bytes that are no whole line yet.
    unread: Vec<u8>,
    block: EventFields,
}

/// The fields since the last empty line.
#[derive(Default)]
struct EventFields {
    id: Option<String>,
    name: Option<String>,
    data: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Comment(String),
    Event(Event),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: i64,
    pub name: String,
    pub data: Value,
}

impl StreamReader {
    pub fn new(response: reqwest::Response) -> Self {
        Self { response, unread: Vec::new(), block: EventFields::default() }
    }

    pub fn header(&self, name: &str) -> &str {
        self.response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The next event or comment; none when the stream ended as it should.
    pub async fn next(&mut self) -> Option<Part> {
        self.try_next().await.expect("the stream breaks off")
    }

    /// The same of a gateway that may be killed: then the stream breaks off.
    pub async fn try_next(&mut self) -> reqwest::Result<Option<Part>> {
        loop {
            while let Some(line) = self.take_line() {
                if let Some(part) = self.block.take_in(&line) {
                    return Ok(Some(part));
                }
            }
            let Some(chunk) = in_time(self.response.chunk()).await? else { return Ok(None) };
            self.unread.extend_from_slice(&chunk);
        }
    }

    pub async fn event(&mut self) -> Event {
        loop {
            match self.next().await.expect("the stream goes on") {
                Part::Event(event) => return event,
                Part::Comment(_) => {}
            }
        }
    }

    pub async fn events(&mut self, count: usize) -> Vec<Event> {
        let mut events = Vec::with_capacity(count);
        while events.len() < count {
            events.push(self.event().await);
        }
        events
    }

    /// The next comment; an event before it is a failure.
    pub async fn comment(&mut self) -> String {
        match self.next().await.expect("the stream goes on") {
            Part::Comment(text) => text,
            Part::Event(event) => panic!("an event that nobody asked for: {event:?}"),
        }
    }

    /// Everything until the gateway ends the stream.
    pub async fn rest(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        while let Some(part) = self.next().await {
            parts.push(part);
        }
        parts
    }

    fn take_line(&mut self) -> Option<String> {
        let end = self.unread.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        Some(String::from_utf8(line).expect("UTF-8").trim_end_matches(['\r', '\n']).to_owned())
    }
}

impl EventFields {
    fn take_in(&mut self, line: &str) -> Option<Part> {
        if let Some(comment) = line.strip_prefix(':') {
            return Some(Part::Comment(comment.trim().to_owned()));
        }
        if line.is_empty() {
            return std::mem::take(self).into_event();
        }
        let (field, value) = line.split_once(": ").expect("a field has a value");
        let place = match field {
            "id" => &mut self.id,
            "event" => &mut self.name,
            "data" => &mut self.data,
            "retry" => return None,
            other => panic!("no field of an event: {other}"),
        };
        assert!(place.replace(value.to_owned()).is_none(), "the field {field} stands there twice");
        None
    }

    /// Without data it is no event.
    fn into_event(self) -> Option<Part> {
        let data = serde_json::from_str(&self.data?).expect("data is one line of JSON");
        let id = self.id.expect("an event has an id").parse().expect("an id is a number");
        Some(Part::Event(Event { id, name: self.name.expect("an event has a name"), data }))
    }
}

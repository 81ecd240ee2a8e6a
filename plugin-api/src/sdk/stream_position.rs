//! The position from which a client resumes an event stream.

use super::{FromRequest, Problem, Request, RouteDescription};
use crate::manifest::{Parameter, ParameterIn, Subscription};

/// Extracts the header `Last-Event-ID`, which a client sends when it resumes.
pub struct LastEventId(pub Option<String>);

impl LastEventId {
    const HEADER: &'static str = "last-event-id";
}

impl FromRequest for LastEventId {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self(request.header(Self::HEADER).map(str::to_owned)))
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.spec.parameters.push(Parameter {
            name: Self::HEADER.to_owned(),
            place: ParameterIn::Header,
            required: false,
            description: String::new(),
            schema: serde_json::json!({ "type": "string" }),
        });
    }
}

/// Taken from the first of these that is a number: `Last-Event-ID`, `sinceId`, `since`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPosition {
    /// New events only.
    Live,
    /// Events after the one with this id.
    AfterId(i64),
    /// Events after this Unix second.
    AfterSecond(i64),
}

impl StreamPosition {
    pub fn new(last_event_id: &LastEventId, since_id: Option<&str>, since: Option<&str>) -> Self {
        let after_id = number(last_event_id.0.as_deref()).or_else(|| number(since_id));
        match (after_id, number(since)) {
            (Some(id), _) => Self::AfterId(id),
            (None, Some(second)) => Self::AfterSecond(second),
            (None, None) => Self::Live,
        }
    }

    /// What comes after it in this topic.
    pub fn subscription(self, topic: &str) -> Subscription {
        let (after_id, after_ts) = match self {
            Self::AfterId(id) => (Some(id), None),
            Self::AfterSecond(second) => (None, Some(second)),
            Self::Live => (None, None),
        };
        Subscription { topic: topic.to_owned(), after_id, after_ts, ..Subscription::default() }
    }
}

fn number(text: Option<&str>) -> Option<i64> {
    let text = text?.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that is larger than any id is a position after every event.
    digits.then(|| text.parse().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(last_event_id: Option<&str>, since_id: Option<&str>, since: Option<&str>) -> StreamPosition {
        StreamPosition::new(&LastEventId(last_event_id.map(str::to_owned)), since_id, since)
    }

    #[test]
    fn the_header_beats_the_id_beats_the_time() {
        assert_eq!(position(Some("5"), Some("6"), Some("7")), StreamPosition::AfterId(5));
        assert_eq!(position(None, Some("6"), Some("7")), StreamPosition::AfterId(6));
        assert_eq!(position(None, None, Some("7")), StreamPosition::AfterSecond(7));
        assert_eq!(position(None, None, None), StreamPosition::Live);
    }

    #[test]
    fn a_text_that_is_not_a_number_is_ignored() {
        for text in ["", " ", "abc", "-1", "1.5", "0x10", "1e3", "١"] {
            assert_eq!(position(Some(text), Some("6"), None), StreamPosition::AfterId(6), "{text:?}");
            assert_eq!(position(Some(text), Some(text), Some(text)), StreamPosition::Live, "{text:?}");
        }
    }

    #[test]
    fn zero_is_the_beginning_and_a_number_that_is_too_large_is_the_end() {
        assert_eq!(position(None, Some("0"), None), StreamPosition::AfterId(0));
        assert_eq!(position(Some(" 12 "), None, None), StreamPosition::AfterId(12));
        assert_eq!(position(Some("99999999999999999999"), None, None), StreamPosition::AfterId(i64::MAX));
    }
}

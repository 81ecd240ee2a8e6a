//! The position from which a client resumes an event stream.

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
    pub fn new(last_event_id: Option<&str>, since_id: Option<&str>, since: Option<&str>) -> Self {
        let after_id = number(last_event_id).or_else(|| number(since_id));
        match (after_id, number(since)) {
            (Some(id), _) => Self::AfterId(id),
            (None, Some(second)) => Self::AfterSecond(second),
            (None, None) => Self::Live,
        }
    }

    pub fn after_id(self) -> Option<i64> {
        match self {
            Self::AfterId(id) => Some(id),
            Self::AfterSecond(_) | Self::Live => None,
        }
    }

    pub fn after_second(self) -> Option<i64> {
        match self {
            Self::AfterSecond(second) => Some(second),
            Self::AfterId(_) | Self::Live => None,
        }
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

    #[test]
    fn the_header_beats_the_id_beats_the_time() {
        assert_eq!(StreamPosition::new(Some("5"), Some("6"), Some("7")), StreamPosition::AfterId(5));
        assert_eq!(StreamPosition::new(None, Some("6"), Some("7")), StreamPosition::AfterId(6));
        assert_eq!(StreamPosition::new(None, None, Some("7")), StreamPosition::AfterSecond(7));
        assert_eq!(StreamPosition::new(None, None, None), StreamPosition::Live);
    }

    #[test]
    fn a_text_that_is_not_a_number_is_ignored() {
        for text in ["", " ", "abc", "-1", "1.5", "0x10", "1e3", "١"] {
            assert_eq!(StreamPosition::new(Some(text), Some("6"), None), StreamPosition::AfterId(6), "{text:?}");
            assert_eq!(StreamPosition::new(Some(text), Some(text), Some(text)), StreamPosition::Live, "{text:?}");
        }
    }

    #[test]
    fn zero_is_the_beginning_and_a_number_that_is_too_large_is_the_end() {
        assert_eq!(StreamPosition::new(None, Some("0"), None), StreamPosition::AfterId(0));
        assert_eq!(StreamPosition::new(Some(" 12 "), None, None), StreamPosition::AfterId(12));
        assert_eq!(StreamPosition::new(Some("99999999999999999999"), None, None), StreamPosition::AfterId(i64::MAX));
    }
}

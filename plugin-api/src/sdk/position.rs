//! Where a reader of the stream left off.

/// The first that is there wins: `Last-Event-ID`, then `sinceId`, then `since`. What is no number is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Only what happens from now on.
    Live,
    /// What comes after this event.
    AfterId(i64),
    /// What happened after this unix second.
    AfterSecond(i64),
}

impl Position {
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
    // More digits than an id can have lie behind every event.
    digits.then(|| text.parse().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_beats_the_id_beats_the_time() {
        assert_eq!(Position::new(Some("5"), Some("6"), Some("7")), Position::AfterId(5));
        assert_eq!(Position::new(None, Some("6"), Some("7")), Position::AfterId(6));
        assert_eq!(Position::new(None, None, Some("7")), Position::AfterSecond(7));
        assert_eq!(Position::new(None, None, None), Position::Live);
    }

    #[test]
    fn what_is_no_number_is_not_there() {
        for text in ["", " ", "abc", "-1", "1.5", "0x10", "1e3", "١"] {
            assert_eq!(Position::new(Some(text), Some("6"), None), Position::AfterId(6), "{text:?}");
            assert_eq!(Position::new(Some(text), Some(text), Some(text)), Position::Live, "{text:?}");
        }
    }

    #[test]
    fn zero_is_the_beginning_and_too_much_is_the_end() {
        assert_eq!(Position::new(None, Some("0"), None), Position::AfterId(0));
        assert_eq!(Position::new(Some(" 12 "), None, None), Position::AfterId(12));
        assert_eq!(Position::new(Some("99999999999999999999"), None, None), Position::AfterId(i64::MAX));
    }
}

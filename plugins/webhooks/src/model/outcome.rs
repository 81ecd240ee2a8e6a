//! What the answer of an endpoint means.

use plugin_api::handles::{FetchError, FetchResponse};
use std::time::{Duration, UNIX_EPOCH};

/// An endpoint may ask for this much patience.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const ERROR_CHARS_MAX: usize = 200;

/// One attempt, as it went.
#[derive(Debug, PartialEq, Eq)]
pub struct Attempt {
    pub status: Option<u16>,
    pub error: Option<String>,
    pub verdict: Verdict,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Delivered,
    Failed {
        retry_after: Option<Duration>,
    },
    /// The endpoint says that it is no more: 410.
    Gone,
    /// Nothing was sent: the gateway has no place, or sends the host no more requests for now.
    NotSent {
        retry_after: Duration,
    },
}

/// What becomes of a delivery whose attempt failed.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Retry { pause: Duration },
    Failed,
}

impl Attempt {
    /// Of the answer to a request that was sent at this time.
    pub fn of(response: &Result<FetchResponse, FetchError>, now_s: i64) -> Self {
        match response {
            Ok(response) => Self::answered(response.status, response.header("retry-after"), now_s),
            Err(FetchError::Busy(reason)) => Self::not_sent(reason, Duration::from_secs(1)),
            Err(FetchError::DestinationBusy { reason, retry_after }) => Self::not_sent(reason, *retry_after),
            Err(error) => {
                let error = Some(shortened(&error.to_string()));
                Self { status: None, error, verdict: Verdict::Failed { retry_after: None } }
            }
        }
    }

    /// The secret cannot be used, so nothing was sent.
    pub fn not_signed() -> Self {
        let error = Some("the gateway cannot use the secret: set it again".to_owned());
        Self { status: None, error, verdict: Verdict::Failed { retry_after: None } }
    }

    fn answered(status: u16, retry_after: Option<&str>, now_s: i64) -> Self {
        let verdict = match status {
            200..=299 => Verdict::Delivered,
            410 => Verdict::Gone,
            _ => Verdict::Failed { retry_after: retry_after.and_then(|text| pause_of(text, now_s)) },
        };
        let error = match status {
            200..=299 => None,
            300..=399 => Some(format!("the status is {status}: redirects are not followed")),
            _ => Some(format!("the status is {status}")),
        };
        Self { status: Some(status), error, verdict }
    }

    fn not_sent(reason: &str, retry_after: Duration) -> Self {
        Self { status: None, error: Some(shortened(reason)), verdict: Verdict::NotSent { retry_after } }
    }
}

/// Seconds, or a date of HTTP.
fn pause_of(text: &str, now_s: i64) -> Option<Duration> {
    let text = text.trim();
    let pause = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_no_number) => {
            let at = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
            at.saturating_sub(Duration::from_secs(u64::try_from(now_s).ok()?))
        }
    };
    Some(pause.min(RETRY_AFTER_MAX))
}

/// An endpoint writes what it likes; a line of it is enough.
fn shortened(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(ERROR_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(status: u16, header: &str) -> Option<Duration> {
        match Attempt::answered(status, Some(header), 784_111_777).verdict {
            Verdict::Failed { retry_after } => retry_after,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn retry_after_is_a_number_or_a_date_and_at_most_a_day() {
        assert_eq!(pause(503, " 120 "), Some(Duration::from_secs(120)));
        assert_eq!(pause(429, "999999999999"), Some(RETRY_AFTER_MAX));
        assert_eq!(pause(500, "Sun, 06 Nov 1994 08:50:37 GMT"), Some(Duration::from_secs(60)));
        assert_eq!(pause(500, "Sun, 06 Nov 1994 08:49:36 GMT"), Some(Duration::ZERO), "it has passed");
        for header in ["soon", "-1", ""] {
            assert_eq!(pause(503, header), None, "{header:?}");
        }
    }

    #[test]
    fn only_2xx_is_a_success_and_410_the_end() {
        for (status, verdict) in [
            (200, Verdict::Delivered),
            (299, Verdict::Delivered),
            (302, Verdict::Failed { retry_after: None }),
            (404, Verdict::Failed { retry_after: None }),
            (410, Verdict::Gone),
        ] {
            assert_eq!(Attempt::answered(status, None, 0).verdict, verdict, "{status}");
        }
    }

    #[test]
    fn what_was_not_sent_is_no_failed_attempt() {
        let retry_after = Duration::from_secs(42);
        let busy = FetchError::DestinationBusy { reason: "busy\nline".into(), retry_after };
        let attempt = Attempt::of(&Err(busy), 0);
        assert_eq!(attempt.verdict, Verdict::NotSent { retry_after });
        assert_eq!(attempt.error.as_deref(), Some("busy line"));
        let attempt = Attempt::of(&Err(FetchError::Timeout("x".repeat(300))), 0);
        assert_eq!(attempt.error.map(|text| text.len()), Some(ERROR_CHARS_MAX));
        assert_eq!(attempt.verdict, Verdict::Failed { retry_after: None });
    }
}

//! A clock that is the system's or a manual one.

use super::manual_clock::{ManualClock, to_millis};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    Manual(ManualClock),
}

impl Clock {
    /// Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => system_now_ms(),
            Self::Manual(manual) => manual.now_ms(),
        }
    }

    /// Unix seconds.
    pub fn now_s(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }

    pub async fn sleep(&self, duration: Duration) {
        match self {
            Self::System => tokio::time::sleep(duration).await,
            Self::Manual(manual) => manual.sleep_until(manual.now_ms().saturating_add(to_millis(duration))).await,
        }
    }

    /// Completes at that time, at once if it has passed. A manual clock that moves in the meantime is noticed.
    pub async fn sleep_until(&self, deadline_ms: i64) {
        match self {
            Self::System => {
                let left_ms = u64::try_from(deadline_ms.saturating_sub(system_now_ms())).unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(left_ms)).await;
            }
            Self::Manual(manual) => manual.sleep_until(deadline_ms).await,
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the only place that reads the system's clock")]
fn system_now_ms() -> i64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

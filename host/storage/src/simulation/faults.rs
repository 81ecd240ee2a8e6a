//! What goes wrong at the simulated server, and how often.

use std::time::Duration;

/// Rates are per mille; all are 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A serialisable transaction is refused at its COMMIT although nobody is in its way.
    pub conflict: u32,
    /// The connection fails before a call's statements have run.
    pub connection_lost: u32,
    /// The connection fails after COMMIT took effect.
    pub commit_answer_lost: u32,
    /// The connection fails before COMMIT, which never takes effect.
    pub commit_lost: u32,
    /// The connection fails, and COMMIT takes effect some time within [`Self::commit_late_max`], unless it conflicts with something by then.
    pub commit_late: u32,
    pub commit_late_max: Duration,
    /// COMMIT is answered and never takes effect. No server may do so, but one that fails over to a standby that lags does.
    pub commit_forgotten: u32,
    /// Nobody hears a notification.
    pub notification_lost: u32,
    /// One is heard some time within this.
    pub notification_late_max: Duration,
    /// Each call of the server takes a time up to this, before and after it.
    pub latency_max: Duration,
}

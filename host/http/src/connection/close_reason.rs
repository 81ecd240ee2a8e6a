//! Why the gateway closes a connection by itself, and when it checks again. Rule: data only; `ConnectionState`
//! decides.

use tokio::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseReason {
    SlowHead,
    SlowReader,
    Idle,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WatchdogVerdict {
    CheckAgainAt(Instant),
    Close(CloseReason),
}

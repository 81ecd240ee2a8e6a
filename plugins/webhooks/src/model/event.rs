//! The events that a webhook can have: wire names, and the types of the activity log that they are made of.

/// Tells those who heard of an event of the chain that a reorganisation undid it.
pub const CHAIN_RETRACTED: &str = "chain.retracted";

/// Sent by the test route, to any webhook.
pub const PING: &str = "ping";

/// What `events` of a webhook may name.
pub const EVENTS: [&str; 12] = [
    "job.requested",
    "job.delivered",
    "job.completed",
    "job.refunded",
    "job.disputed",
    "dm.received",
    "bounty.claimed",
    "stream.opened",
    "sub.created",
    "case.opened",
    "validation.done",
    CHAIN_RETRACTED,
];

/// The types of the log, in the order of [`EVENTS`].
pub const LOG_TYPES: [&str; 12] = [
    "job.requested",
    "job.delivered",
    "job.completed",
    "job.refunded",
    "job.disputed",
    "message.send",
    "bounty.claim",
    "stream.opened",
    "sub.created",
    "case.opened",
    "validation.done",
    CHAIN_RETRACTED,
];

/// The event that a type of the log makes.
pub fn event_of(log_type: &str) -> Option<&'static str> {
    let at = LOG_TYPES.iter().position(|known| *known == log_type)?;
    EVENTS.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_events_have_another_type_in_the_log() {
        let renamed: Vec<_> = LOG_TYPES.into_iter().zip(EVENTS).filter(|(log, event)| log != event).collect();
        assert_eq!(renamed, [("message.send", "dm.received"), ("bounty.claim", "bounty.claimed")]);
        assert_eq!(event_of("bounty.claim"), Some("bounty.claimed"));
        assert_eq!(event_of("job.resolved"), None);
    }
}

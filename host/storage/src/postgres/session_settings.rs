//! The server's own limits of statements and transactions.
//!
//! The rule: no `SET` that outlives a transaction. Behind a pooler a session of the server serves many clients, so the limits
//! are startup parameters of a session that is the gateway's own, or travel with BEGIN.

use crate::settings::DatabaseSettings;
use std::borrow::Cow;

/// Small tables are read whole where an index could be used, and then a serialisable transaction locks the whole table for
/// its decision: two that have different rows conflict. Without sequential scans it locks the rows, or pages of the index.
/// What can only be scanned is still scanned, at a cost that would make the server compile the statement each time: so it never does.
const FINE_PREDICATE_LOCKS: &str = "SET LOCAL enable_seqscan = off";
const NOT_COMPILED: &str = "SET LOCAL jit = off";

/// `off` would acknowledge commits before they are durable. A stricter setting than `on` is kept.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', true) \
     WHERE current_setting('synchronous_commit') = 'off'";
const DURABLE_KNOWN: &str = "SET LOCAL synchronous_commit = on";

/// How a transaction is kept apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionMode {
    /// Each statement is atomic.
    ReadCommitted,
    /// One after the other, by a lock that is held until the commit.
    Locked(i64),
    Serializable,
}

/// What is known of a session when it has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionState {
    /// The server took [`SessionSettings::startup`].
    pub has_startup_options: bool,
    /// It acknowledges commits before they are durable, unless a transaction says otherwise. Known with `has_startup_options` only.
    pub is_async_commit: bool,
    /// It stops a statement whose client has gone.
    pub detects_lost_clients: bool,
    /// It reads a backslash in a text as an escape, which the statement check does not.
    pub reads_backslashes: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct SessionSettings {
    statement_ms: u64,
    lock_ms: u64,
    idle_ms: u64,
    is_durable: bool,
}

impl SessionSettings {
    pub(crate) fn new(settings: &DatabaseSettings) -> Self {
        Self {
            statement_ms: settings.statement_timeout_ms,
            lock_ms: settings.statement_timeout_ms.min(settings.transaction_timeout_ms),
            idle_ms: settings.transaction_idle_ms,
            is_durable: settings.synchronous_full,
        }
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.is_durable
    }

    /// For the startup parameter `options`.
    ///
    /// Sessions are read-only by default, so that the statements that travel with a BEGIN that fails cannot write on their
    /// own; reads outside of transactions may not write in any case.
    pub(crate) fn startup(&self, detects_lost_clients: bool) -> String {
        let Self { statement_ms, lock_ms, idle_ms, is_durable } = self;
        let mut options = format!(
            "-c statement_timeout={statement_ms} -c lock_timeout={lock_ms} \
             -c idle_in_transaction_session_timeout={idle_ms} -c standard_conforming_strings=on \
             -c TimeZone=UTC -c DateStyle=ISO,MDY -c default_transaction_read_only=on -c jit=off"
        );
        if !is_durable {
            options.push_str(" -c synchronous_commit=off");
        }
        if detects_lost_clients {
            options.push_str(" -c client_connection_check_interval=100");
        }
        options
    }

    /// The statements that begin a transaction.
    pub(crate) fn begin(&self, mode: TransactionMode, session: SessionState) -> Vec<Cow<'static, str>> {
        let mut statements: Vec<Cow<'static, str>> = vec![
            match mode {
                TransactionMode::Serializable => "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
                TransactionMode::ReadCommitted | TransactionMode::Locked(_) => {
                    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
                }
            }
            .into(),
        ];
        if !session.has_startup_options {
            let Self { statement_ms, lock_ms, idle_ms, .. } = self;
            statements.push(format!("SET LOCAL statement_timeout = {statement_ms}").into());
            statements.push(format!("SET LOCAL lock_timeout = {lock_ms}").into());
            statements.push(format!("SET LOCAL idle_in_transaction_session_timeout = {idle_ms}").into());
            statements.push("SET LOCAL TimeZone = 'UTC'".into());
        }
        match (self.is_durable, session.has_startup_options) {
            (true, true) if session.is_async_commit => statements.push(DURABLE_KNOWN.into()),
            (true, true) | (false, true) => {}
            (true, false) => statements.push(DURABLE.into()),
            (false, false) => statements.push("SET LOCAL synchronous_commit = off".into()),
        }
        match mode {
            TransactionMode::ReadCommitted => {}
            TransactionMode::Locked(key) => statements.push(format!("SELECT pg_advisory_xact_lock({key})").into()),
            TransactionMode::Serializable => {
                statements.push(FINE_PREDICATE_LOCKS.into());
                if !session.has_startup_options {
                    statements.push(NOT_COMPILED.into());
                }
            }
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_travel_with_begin_only_where_the_session_has_none() {
        let settings = SessionSettings::new(&DatabaseSettings::new("postgres://x/y"));
        let own = SessionState { has_startup_options: true, ..SessionState::default() };
        let begin = |mode, session| settings.begin(mode, session).join("; ");
        assert_eq!(
            begin(TransactionMode::Locked(7), own),
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock(7)"
        );
        let pooled = begin(TransactionMode::Serializable, SessionState::default());
        assert!(
            pooled.starts_with("BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; SET LOCAL statement_timeout = 10000;")
        );
        assert!(pooled.contains("current_setting('synchronous_commit') = 'off'"), "{pooled}");
        assert!(pooled.contains("enable_seqscan = off") && !pooled.contains("advisory"), "{pooled}");
        let serializable = begin(TransactionMode::Serializable, own);
        assert!(serializable.contains("enable_seqscan = off") && !serializable.contains("jit"), "{serializable}");
        assert!(settings.startup(false).contains("-c jit=off") && pooled.ends_with("SET LOCAL jit = off"), "{pooled}");
        let lazy = begin(TransactionMode::ReadCommitted, SessionState { is_async_commit: true, ..own });
        assert!(lazy.ends_with("SET LOCAL synchronous_commit = on"), "{lazy}");
    }
}

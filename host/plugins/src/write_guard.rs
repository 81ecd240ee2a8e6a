//! What keeps signed writes apart: the replay guard and the interval between writes of one address.
//!
//! The rule: both are checked in the transaction of the write itself. The replay guard comes first, so that a client that
//! repeats a write that succeeded gets 409 and nothing else.

use gateway_storage::CommitStatement;
use plugin_api::sql;

pub const MIGRATION: &str = "
CREATE TABLE host_replay_guard (
    address TEXT NOT NULL,
    digest TEXT NOT NULL,
    remember_until_s BIGINT NOT NULL,
    PRIMARY KEY (address, digest)
);
CREATE INDEX host_replay_guard_age ON host_replay_guard (remember_until_s);
CREATE TABLE host_write_slots (address TEXT NOT NULL PRIMARY KEY, last_ms BIGINT NOT NULL);
";

/// What a signed write uses up when it commits.
#[derive(Clone, Debug)]
pub struct WriteGuard {
    /// Checksummed address.
    pub signer: String,
    /// Hex of what was signed.
    pub digest: String,
    pub now_ms: i64,
    pub interval_ms: i64,
    /// Until this time a replayed signature would be fresh.
    pub remember_until_s: i64,
}

impl WriteGuard {
    /// The first statement is the replay guard, the second, if any, the interval: each must return a row.
    pub(crate) fn statements(&self) -> Vec<CommitStatement> {
        let replay = sql("INSERT INTO host_replay_guard (address, digest, remember_until_s) VALUES ($1, $2, $3) \
             ON CONFLICT (address, digest) DO NOTHING RETURNING 1")
        .bind(self.signer.as_str())
        .bind(self.digest.as_str())
        .bind(self.remember_until_s);
        let mut statements = vec![CommitStatement::expecting_row(replay.into())];
        if self.interval_ms > 0 {
            // A time in the future comes from a clock that was wrong: it must not lock the address out.
            let slot = sql(
                "INSERT INTO host_write_slots (address, last_ms) VALUES ($1, $2) \
                 ON CONFLICT (address) DO UPDATE SET last_ms = excluded.last_ms \
                 WHERE host_write_slots.last_ms <= excluded.last_ms - $3 OR host_write_slots.last_ms > excluded.last_ms + $3 \
                 RETURNING 1",
            )
            .bind(self.signer.as_str())
            .bind(self.now_ms)
            .bind(self.interval_ms);
            statements.push(CommitStatement::expecting_row(slot.into()));
        }
        statements
    }
}

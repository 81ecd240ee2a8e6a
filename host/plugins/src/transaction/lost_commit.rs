//! What became of a write whose COMMIT the server did not answer.
//!
//! The rule: a write that is answered with an error has not taken effect and never will, unless the database cannot be asked within
//! 5 s: then the answer is 503 and the outcome stays unknown. So each write leaves a mark in its transaction: a signed write its guard, a job's, a task's and one without a signature a row of its own (PostgreSQL only: SQLite loses no
//! answer). Who looks for the mark writes "lost" in its place when there is none: an attempt that is still on its way, in a buffer
//! or a server that is slow, finds that and is refused by it. In a guard it says which attempts are lost; a client that sends the
//! request again is another attempt.
//!
//! An index needs none: its transactions move its cursor from where they found it, so one that is done again after it took effect
//! is refused, and the index reads its cursor anew.

use super::write_guard::SignedWriteRecord;
use gateway_storage::{CommitStatement, Database, StorageError, decode_rows};
use plugin_api::{abi::Statement, manifest::MigrationSpec, sql};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long to look, while the server comes back.
const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// SQLite has no such table: nothing lies between the gateway and its file.
const ATTEMPTS_SQLITE: &str = "SELECT 1";
const ATTEMPTS_POSTGRES: &str = "CREATE TABLE host_attempts (
    remember_until_s BIGINT NOT NULL,
    attempt TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (remember_until_s, attempt)
)";
/// Longer than any transaction, and the search for it.
const REMEMBER_S: i64 = 3600;

/// A plain INSERT: the mark of an attempt that was given up refuses it.
const LEAVE_ROW: &str = "INSERT INTO host_attempts (remember_until_s, attempt, state) VALUES ($1, $2, $2)";
/// As [`CLAIM`], of such a row.
const CLAIM_ROW: &str = "INSERT INTO host_attempts (remember_until_s, attempt, state) VALUES ($1, $2, 'lost ' || $2) \
    ON CONFLICT (remember_until_s, attempt) DO UPDATE SET state = host_attempts.state RETURNING state";
/// What no search needs any more.
pub const FORGET_ATTEMPTS: &str = "DELETE FROM host_attempts WHERE remember_until_s < $1";

pub fn attempts_migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "attempts", ATTEMPTS_SQLITE, ATTEMPTS_POSTGRES)
}

/// What a write leaves in its transaction.
#[derive(Clone, Copy)]
pub(crate) enum CommitMark<'w> {
    Guard(&'w SignedWriteRecord),
    Row { remember_until_s: i64 },
}

impl CommitMark<'_> {
    pub(crate) fn row(now_s: i64) -> Self {
        Self::Row { remember_until_s: now_s + REMEMBER_S }
    }

    /// A guard is left by its own statements.
    pub(crate) fn leave(self, attempt: &str) -> Option<CommitStatement> {
        match self {
            Self::Guard(_) => None,
            Self::Row { remember_until_s } => {
                Some(CommitStatement::new(sql(LEAVE_ROW).bind(remember_until_s).bind(attempt).into()))
            }
        }
    }

    fn claim(self, attempt: &str) -> Statement {
        match self {
            Self::Guard(guard) => guard.bind_key(CLAIM, attempt),
            Self::Row { remember_until_s } => sql(CLAIM_ROW).bind(remember_until_s).bind(attempt).into(),
        }
    }
}

/// Marks the key, and waits for an attempt that is committing just now. Returns whose guard it is then.
const CLAIM: &str = "INSERT INTO host_replay_guard (remember_until_s, digest, address, attempt) \
    VALUES ($1, $2, $3, 'lost ' || $4) \
    ON CONFLICT (remember_until_s, digest) DO UPDATE SET attempt = CASE \
    WHEN host_replay_guard.attempt LIKE 'lost %' THEN host_replay_guard.attempt || ' ' || $4 \
    ELSE host_replay_guard.attempt END RETURNING attempt";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitOutcome {
    Committed,
    /// Another attempt of the same request was committed.
    Replayed,
    /// Nothing was written, and nothing will be.
    NotCommitted,
}

/// Finds out about an attempt. `None` when the database could not be asked in time.
pub(crate) async fn find_out(database: &Database, mark: CommitMark<'_>, attempt: &str) -> Option<CommitOutcome> {
    let deadline = Instant::now() + LIMIT;
    loop {
        match claim(database, mark, attempt).await {
            Ok(owner) => return Some(outcome(owner.as_deref(), attempt)),
            Err(error) if Instant::now() + PAUSE < deadline => {
                tracing::debug!(%error, "a commit's outcome is not known yet");
                sleep(PAUSE).await;
            }
            Err(error) => {
                tracing::warn!(%error, "a commit's outcome stays unknown");
                return None;
            }
        }
    }
}

fn outcome(owner: Option<&str>, attempt: &str) -> CommitOutcome {
    match owner {
        Some(owner) if owner == attempt => CommitOutcome::Committed,
        Some(owner) if owner.starts_with("lost ") => CommitOutcome::NotCommitted,
        // One of an earlier version has no attempt.
        Some(_) | None => CommitOutcome::Replayed,
    }
}

async fn claim(database: &Database, mark: CommitMark<'_>, attempt: &str) -> Result<Option<String>, StorageError> {
    let claimed = database.execute(mark.claim(attempt)).await?;
    let owners: Vec<Option<String>> = decode_rows(&claimed.rows)?;
    owners.into_iter().next().ok_or_else(|| StorageError::Internal("an attempt could not be marked".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_tells_whose_write_it_was() {
        assert_eq!(outcome(Some("a1"), "a1"), CommitOutcome::Committed);
        assert_eq!(outcome(Some("a2"), "a1"), CommitOutcome::Replayed);
        assert_eq!(outcome(None, "a1"), CommitOutcome::Replayed);
        assert_eq!(outcome(Some("lost a1"), "a1"), CommitOutcome::NotCommitted);
        assert_eq!(outcome(Some("lost a0 a1"), "a1"), CommitOutcome::NotCommitted);
    }
}

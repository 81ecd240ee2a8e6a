//! What became of a signed write whose COMMIT the server did not answer.
//!
//! The rule: a write that is answered with an error has not taken effect and never will. So who looks for its guard marks the
//! key as lost when there is none: an attempt that is still on its way, in a buffer or a server that is slow, finds the mark
//! and is refused by it. The mark says which attempts are lost; a client that sends the request again is another attempt.
//!
//! Jobs and writes without a signature have no guard: their outcome stays unknown.

use crate::WriteGuard;
use gateway_storage::{CommitStatement, Database, Scope, StorageError};
use plugin_api::abi::Cell;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long to look, while the server comes back.
const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// Marks the key, and waits for an attempt that is committing just now. Returns whose guard it is then.
const CLAIM: &str = "INSERT INTO host_replay_guard (remember_until_s, digest, address, attempt) \
    VALUES ($1, $2, $3, 'lost ' || $4) \
    ON CONFLICT (remember_until_s, digest) DO UPDATE SET attempt = CASE \
    WHEN host_replay_guard.attempt LIKE 'lost %' THEN host_replay_guard.attempt || ' ' || $4 \
    ELSE host_replay_guard.attempt END RETURNING attempt";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    /// Another attempt of the same request was committed.
    Replayed,
    /// Nothing was written, and nothing will be.
    NotCommitted,
}

/// Finds out about an attempt. `None` when the database could not be asked in time.
pub async fn find_out(database: &Database, guard: &WriteGuard, attempt: &str) -> Option<Outcome> {
    let deadline = Instant::now() + LIMIT;
    loop {
        match claim(database, guard, attempt).await {
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

fn outcome(owner: Option<&str>, attempt: &str) -> Outcome {
    match owner {
        Some(owner) if owner == attempt => Outcome::Committed,
        Some(owner) if owner.starts_with("lost ") => Outcome::NotCommitted,
        // One of an earlier version has no attempt.
        Some(_) | None => Outcome::Replayed,
    }
}

async fn claim(database: &Database, guard: &WriteGuard, attempt: &str) -> Result<Option<String>, StorageError> {
    let transaction = database.begin(Scope::Host);
    let claim = CommitStatement::new(guard.bind_key(CLAIM, attempt));
    let outcomes = transaction.commit(vec![claim]).await?;
    let owner = outcomes.first().and_then(|outcome| outcome.rows.cells().ok()?.next()?.ok());
    match owner {
        Some(Cell::Text(owner)) => Ok(Some(owner.to_owned())),
        Some(_) => Ok(None),
        None => Err(StorageError::Internal("a guard could not be marked".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_tells_whose_write_it_was() {
        assert_eq!(outcome(Some("a1"), "a1"), Outcome::Committed);
        assert_eq!(outcome(Some("a2"), "a1"), Outcome::Replayed);
        assert_eq!(outcome(None, "a1"), Outcome::Replayed);
        assert_eq!(outcome(Some("lost a1"), "a1"), Outcome::NotCommitted);
        assert_eq!(outcome(Some("lost a0 a1"), "a1"), Outcome::NotCommitted);
    }
}

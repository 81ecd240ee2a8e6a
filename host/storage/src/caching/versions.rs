//! What tells a gateway whether another one has changed the data that a cached response was made from (PostgreSQL, which
//! several gateways write).
//!
//! A transaction that changes such data inserts one row into `host_changes`, with the owner of the data. The version of an owner
//! is the number of its rows, of which [`COMPACT`] replaces those that are there by their number in `host_versions`. All versions are
//! read by one statement, so on one snapshot, which has a compaction or has it not.
//!
//! The snapshots of one server are ordered: of two, one has every commit that the other has. So two reads that find the same
//! version of an owner have the same commits of it, a version never decreases, and a read that began after a commit was
//! acknowledged counts it.
//!
//! The rules that must not break: **the row commits together with the change, and no writer updates a row that another one
//! updates.** Every write would wait for the one before it otherwise.

use crate::{
    caching::{
        revisions::{OwnerRevision, Revisions},
        shared_read::SharedRead,
    },
    commit_statement::CommitStatement,
    error::StorageError,
    scope::HOST_OWNER,
    standby::wal_lsn::{self, WalLsn},
    statements::decode_rows,
};
use parking_lot::Mutex;
use plugin_api::{
    abi::{Rows, Statement},
    manifest::MigrationSpec,
    sql,
};
use std::{
    collections::HashMap,
    fmt,
    num::ParseIntError,
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};

/// The owner in the row of a change that may be of anything.
pub(crate) const EVERYTHING: &str = "*";

/// SQLite has one writer, whose commits this process sees.
const TABLES_SQLITE: &str = "SELECT 1";
const TABLES_POSTGRES: &str = "
CREATE TABLE host_changes (id {{id}}, owner TEXT NOT NULL);
CREATE TABLE host_versions (owner TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL);
";

pub fn versions_migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "versions", TABLES_SQLITE, TABLES_POSTGRES)
}

/// Notes a change of anything. The first migrations run before the table is there.
pub(crate) const NOTE_CHANGE_OF_EVERYTHING: &str = "
DO $$ BEGIN
    IF to_regclass('host_changes') IS NOT NULL THEN INSERT INTO host_changes (owner) VALUES ('*'); END IF;
END $$";

const READ: &str = "SELECT owner, CAST(sum(changes) AS BIGINT) FROM (
        SELECT owner, version AS changes FROM host_versions
        UNION ALL SELECT owner, count(*) FROM host_changes GROUP BY owner
    ) AS counted GROUP BY owner";

/// With fewer rows, a read counts them faster than the server would write them anew.
pub(crate) const COMPACTED_ROWS_MIN: u32 = 200;
/// Most rows that one compaction takes, so that it ends in time after a long pause as well.
const COMPACTED_ROWS_MAX: u32 = 20_000;

/// How many rows there are, up to [`COMPACTED_ROWS_MIN`].
const COUNT_FEW: &str = "SELECT count(*) FROM (SELECT 1 FROM host_changes LIMIT $1) AS few";

/// Two compactions at the same time take different rows. They update the owners in one order, so that neither waits for the other
/// one in a circle.
const COMPACT: &str = "WITH gone AS (
        DELETE FROM host_changes WHERE id = ANY (ARRAY(SELECT id FROM host_changes LIMIT $1 FOR UPDATE SKIP LOCKED))
        RETURNING owner
    )
    INSERT INTO host_versions (owner, version) SELECT owner, count(*) FROM gone GROUP BY owner ORDER BY owner
    ON CONFLICT (owner) DO UPDATE SET version = host_versions.version + excluded.version";

pub(crate) fn count_few_statement() -> Statement {
    sql(COUNT_FEW).bind(COMPACTED_ROWS_MIN).into()
}

pub(crate) fn compact_statement() -> Statement {
    sql(COMPACT).bind(COMPACTED_ROWS_MAX).into()
}

/// Notes, at the end of a transaction, that it changes data of this owner.
pub(crate) fn change_statement(owner: &str) -> CommitStatement {
    CommitStatement::new(sql("INSERT INTO host_changes (owner) VALUES ($1)").bind(owner).into())
}

/// How many changes a read of the versions has counted, of all owners. Of two reads the one that counted more has every commit that
/// the other one has. Clients send it back in `X-Service-Position`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeCount(u64);

impl fmt::Display for ChangeCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for ChangeCount {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// The versions as they were last read, and the revisions that follow from them.
pub(crate) struct Versions {
    revisions: Arc<Revisions>,
    reads: SharedRead,
    /// How long the last read is good enough for a cached response.
    staleness: Duration,
    /// Read replicas are compared with what is read.
    needs_lsn: bool,
    last: Mutex<LastRead>,
}

#[derive(Default)]
struct LastRead {
    by_owner: HashMap<String, u64>,
    begun_at: Option<Instant>,
    lsn: Option<WalLsn>,
}

impl Versions {
    pub(crate) fn new(staleness: Duration, needs_lsn: bool) -> Self {
        Self { revisions: Arc::default(), reads: SharedRead::default(), staleness, needs_lsn, last: Mutex::default() }
    }

    pub(crate) fn revisions(&self) -> &Arc<Revisions> {
        &self.revisions
    }

    /// Whether a response may be older than a write that was acknowledged before.
    pub(crate) fn may_be_stale(&self) -> bool {
        !self.staleness.is_zero()
    }

    /// What is read. For a read replica with one row more: an LSN of the log that covers every commit that is counted.
    pub(crate) fn read_statement(&self) -> Statement {
        if self.needs_lsn { sql(format!("{READ} UNION ALL {}", wal_lsn::CURRENT)) } else { sql(READ) }.into()
    }

    /// Whether a client gets the change count after its write.
    pub(crate) fn gives_change_counts(&self) -> bool {
        self.may_be_stale() || self.needs_lsn
    }

    /// An LSN of the log that has what the last read has counted, and so everything that the revisions follow from.
    pub(crate) fn wal_lsn(&self) -> Option<WalLsn> {
        self.last.lock().lsn.clone()
    }

    /// Reads the versions, or waits for another caller's read that begins after this call. `false` when it failed.
    pub(crate) async fn refresh<F>(&self, read: impl FnOnce() -> F) -> bool
    where
        F: Future<Output = Result<Rows, StorageError>>,
    {
        let read_and_apply = || async {
            metrics::counter!("gateway_version_reads_total").increment(1);
            let begun_at = Instant::now();
            match read().await.and_then(|rows| decode(&rows)) {
                Ok(read) => {
                    self.apply(read, begun_at);
                    true
                }
                Err(error) => {
                    // The next one may be of another server, whose commits are not those of this one.
                    *self.last.lock() = LastRead::default();
                    tracing::debug!(%error, "what is cached cannot be used: the versions of the data are unknown");
                    false
                }
            }
        };
        self.reads.run(read_and_apply).await
    }

    /// The same unless the last read is recent enough, and not older than `at_least`. `false` also when the read is older than
    /// that: the count is of another database, or of this one before a restore.
    pub(crate) async fn refresh_if_old<F>(&self, at_least: Option<ChangeCount>, read: impl FnOnce() -> F) -> bool
    where
        F: Future<Output = Result<Rows, StorageError>>,
    {
        let is_recent = || self.last.lock().begun_at.is_some_and(|begun_at| begun_at.elapsed() < self.staleness);
        let has_count = || at_least.is_none_or(|at_least| self.change_count() >= Some(at_least));
        is_recent() && has_count() || self.refresh(read).await && has_count()
    }

    /// What the last read has counted; `None` when it failed.
    pub(crate) fn change_count(&self) -> Option<ChangeCount> {
        let last = self.last.lock();
        last.begun_at.map(|_| ChangeCount(last.by_owner.values().sum()))
    }

    /// Advances the revisions of the owners whose version is another one. Reads come here in the order in which they began.
    fn apply(&self, (by_owner, lsn): VersionsRead, begun_at: Instant) {
        let mut last = self.last.lock();
        let owners = last.by_owner.keys().chain(by_owner.keys());
        let changed = owners.filter(|owner| last.by_owner.get(*owner) != by_owner.get(*owner));
        let mut changed: Vec<OwnerRevision> = changed.map(|owner| self.revision_of(owner)).collect();
        if last.begun_at.is_none() {
            changed.push(self.revisions.everything());
        }
        if !changed.is_empty() {
            // As on SQLite, each transaction may end with rows of the gateway's own.
            changed.push(self.revisions.of(HOST_OWNER));
            drop(self.revisions.begin_commit(changed));
        }
        *last = LastRead { by_owner, begun_at: Some(begun_at), lsn };
    }

    fn revision_of(&self, owner: &str) -> OwnerRevision {
        if owner == EVERYTHING { self.revisions.everything() } else { self.revisions.of(owner) }
    }
}

/// By owner, and the LSN of the log where it is read.
type VersionsRead = (HashMap<String, u64>, Option<WalLsn>);

fn decode(rows: &Rows) -> Result<VersionsRead, StorageError> {
    let rows: Vec<(String, u64)> = decode_rows(rows)?;
    let mut lsn = None;
    let mut by_owner = HashMap::with_capacity(rows.len());
    for (owner, version) in rows {
        match WalLsn::of_row(&owner, version) {
            Some(end) => lsn = Some(end),
            None => drop(by_owner.insert(owner, version)),
        }
    }
    Ok((by_owner, lsn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caching::revisions::Revision;

    fn apply(versions: &Versions, read: &[(&str, u64)]) -> Revision {
        let by_owner = read.iter().map(|(owner, version)| ((*owner).to_owned(), *version)).collect();
        versions.apply((by_owner, None), Instant::now());
        versions.revisions.current()
    }

    #[test]
    fn a_version_that_changes_advances_its_owner_and_the_gateway() {
        let versions = Versions::new(Duration::ZERO, false);
        let is_unchanged = |owner: &str, since| versions.revisions.of(owner).is_unchanged_since(since);
        let since = apply(&versions, &[("forum", 3), ("hello", 1)]);
        assert_eq!(apply(&versions, &[("forum", 3), ("hello", 1)]), since);
        assert!(is_unchanged("forum", since) && is_unchanged("host", since));
        apply(&versions, &[("forum", 4), ("hello", 1)]);
        assert!(!is_unchanged("forum", since) && !is_unchanged("host", since));
        assert!(is_unchanged("hello", since) && versions.revisions.everything().is_unchanged_since(since));
        assert_eq!(versions.change_count(), Some(ChangeCount(5)));
    }

    #[test]
    fn a_change_of_anything_advances_what_everything_depends_on() {
        let versions = Versions::new(Duration::ZERO, false);
        let since = apply(&versions, &[("forum", 3)]);
        apply(&versions, &[("forum", 3), (EVERYTHING, 1)]);
        assert!(!versions.revisions.everything().is_unchanged_since(since));
        assert!(versions.revisions.of("forum").is_unchanged_since(since));
    }

    #[test]
    fn an_owner_that_is_gone_has_changed() {
        let versions = Versions::new(Duration::ZERO, false);
        let since = apply(&versions, &[("forum", 3), ("hello", 1)]);
        apply(&versions, &[("hello", 1)]);
        assert!(!versions.revisions.of("forum").is_unchanged_since(since));
    }

    async fn fail() -> Result<Rows, StorageError> {
        Err(StorageError::Unavailable("away".into()))
    }

    #[tokio::test]
    async fn a_read_is_good_for_as_long_as_it_may_be_old_and_never_older_than_a_change_count() {
        let strict = Versions::new(Duration::ZERO, false);
        apply(&strict, &[("forum", 3)]);
        assert!(!strict.refresh_if_old(None, fail).await);
        let lax = Versions::new(Duration::from_secs(3600), false);
        assert!(!lax.refresh_if_old(None, fail).await, "there is none");
        apply(&lax, &[("forum", 3)]);
        assert!(lax.refresh_if_old(None, fail).await);
        assert!(lax.refresh_if_old(Some(ChangeCount(3)), fail).await);
        let read = || async { Ok(Rows::default()) };
        assert!(lax.refresh_if_old(None, read).await, "the last read is good enough");
        assert_eq!(lax.change_count(), Some(ChangeCount(3)));
        assert!(!lax.refresh_if_old(Some(ChangeCount(4)), read).await, "that many changes there have never been");
    }

    #[tokio::test]
    async fn after_a_read_that_failed_everything_has_changed() {
        let versions = Versions::new(Duration::from_secs(3600), false);
        let since = apply(&versions, &[("forum", 3)]);
        assert!(!versions.refresh(fail).await);
        assert!(versions.revisions.of("forum").is_unchanged_since(since), "nothing is known to have changed");
        assert!(!versions.refresh_if_old(None, fail).await, "there is no recent read any more");
        assert_eq!(versions.change_count(), None);
        apply(&versions, &[("forum", 3)]);
        assert!(!versions.revisions.of("forum").is_unchanged_since(since));
        assert!(!versions.revisions.everything().is_unchanged_since(since));
    }

    #[test]
    fn a_change_count_is_a_number() {
        assert_eq!("17".parse(), Ok(ChangeCount(17)));
        assert_eq!(ChangeCount(17).to_string(), "17");
        assert!("".parse::<ChangeCount>().is_err() && "-1".parse::<ChangeCount>().is_err());
    }
}

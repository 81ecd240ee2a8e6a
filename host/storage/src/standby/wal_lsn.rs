//! LSNs of the server's write-ahead log, by which a read replica is compared with its primary.
//!
//! The rule that must not break: **a read replica that has replayed an LSN shows every commit that was visible on the primary when
//! the LSN was read.** A commit is in the log before it is visible. Numbers of changes would not do: a read replica shows commits in
//! the order of the log, and the primary may show two that end at the same time in the other order.

use crate::{error::StorageError, statements::decode_rows};
use plugin_api::abi::Rows;

/// The end of the primary's log, in the form of a row of the versions: the text says whose log it is, after a mark that no
/// plugin's name begins with, and the timeline, which every promotion changes.
pub(crate) const CURRENT: &str = "SELECT '@' || (SELECT system_identifier FROM pg_control_system()) || '/' || \
     substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), \
     CAST(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS BIGINT)";

/// The same of a read replica: what it has replayed, or NULL when it is a primary by now. The timeline is that of its last
/// restart point. After it has begun to follow another server that is an old one for a while, and then it is not used.
const REPLAYED: &str = "SELECT '@' || system.system_identifier || '/' || lpad(upper(to_hex(checkpoint.timeline_id)), 8, '0'), \
     CAST(CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') END AS BIGINT) \
     FROM pg_control_system() AS system, pg_control_checkpoint() AS checkpoint";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WalLsn {
    /// Of which cluster the log is, and of which timeline.
    history: String,
    lsn: u64,
}

/// What a read replica has replayed, compared with an LSN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayProgress {
    Reached,
    Behind,
    /// It takes writes of its own.
    Promoted,
    /// It is the read replica of another cluster, or its primary was replaced by another one that it does not follow yet.
    OtherHistory,
}

impl WalLsn {
    /// Of a row that [`CURRENT`] made; `None` for other rows.
    pub(crate) fn of_row(text: &str, lsn: u64) -> Option<Self> {
        text.strip_prefix('@').map(|history| Self { history: history.to_owned(), lsn })
    }

    pub(crate) fn compare(&self, replayed: &Rows) -> Result<ReplayProgress, StorageError> {
        let rows: Vec<(String, Option<u64>)> = decode_rows(replayed)?;
        let Some((text, lsn)) = rows.into_iter().next() else { return Ok(ReplayProgress::Behind) };
        Ok(self.compare_with(&text, lsn))
    }

    fn compare_with(&self, text: &str, lsn: Option<u64>) -> ReplayProgress {
        match lsn {
            None => ReplayProgress::Promoted,
            Some(_) if text.strip_prefix('@') != Some(&self.history) => ReplayProgress::OtherHistory,
            Some(lsn) if lsn < self.lsn => ReplayProgress::Behind,
            Some(_) => ReplayProgress::Reached,
        }
    }
}

/// For a read replica.
pub(crate) fn replayed_statement() -> plugin_api::abi::Statement {
    plugin_api::sql(REPLAYED).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn only_a_read_replica_of_the_same_history_reaches_an_lsn() {
        let primary = WalLsn::of_row("@7/00000001", 100).unwrap();
        assert_eq!(primary.compare_with("@7/00000001", Some(100)), ReplayProgress::Reached);
        assert_eq!(primary.compare_with("@7/00000001", Some(99)), ReplayProgress::Behind);
        assert_eq!(primary.compare_with("@7/00000001", None), ReplayProgress::Promoted);
        assert_eq!(primary.compare_with("@7/00000002", Some(200)), ReplayProgress::OtherHistory);
        assert_eq!(primary.compare_with("@8/00000001", Some(200)), ReplayProgress::OtherHistory);
        assert_eq!(WalLsn::of_row("forum", 3), None);
    }
}

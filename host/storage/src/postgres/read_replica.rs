//! A read replica that follows the primary, for plain reads.
//!
//! The rules that must not break: **each read looks, on its own connection and in the same round trip, how far the read replica is**,
//! since the server behind an address may have been promoted or replaced a moment ago. **What a read replica cannot answer, for whatever
//! reason, is no error of the request**: the caller asks the primary.

use super::{
    connector::Connector,
    query::Query,
    reachability::{Reachability, ServerRole},
    read_backoff::ReadBackoff,
    session_pool::SessionPool,
};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    settings::DatabaseSettings,
    standby::wal_lsn::{ReplayProgress, WalLsn},
};
use plugin_api::abi::Rows;
use secrecy::SecretString;
use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Instant,
};

pub(crate) struct ReadReplica {
    /// Its place in `database.read_urls`, from 1.
    number: usize,
    pool: SessionPool,
    /// Asks what it has replayed.
    replayed: CheckedStatement,
    backoff: ReadBackoff,
    /// One bit for each reason that was logged.
    logged: AtomicU8,
}

/// Why the primary answered in place of a read replica.
#[derive(Clone, Copy)]
enum NotUsedReason {
    Away,
    Behind,
    Promoted,
    OtherHistory,
    Failed,
}

impl NotUsedReason {
    fn label(self) -> &'static str {
        match self {
            Self::Away => "away",
            Self::Behind => "behind",
            Self::Promoted => "promoted",
            Self::OtherHistory => "other_history",
            Self::Failed => "failed",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Away => "it is away",
            Self::Behind => "it has not replayed what the read needs",
            Self::Promoted => "it is no standby any more",
            Self::OtherHistory => "it follows another server than the primary, or not yet the new one",
            Self::Failed => "the read failed there",
        }
    }

    /// Whether the next read would find the same. What watches the server knows when it is back, and a read may fail by its own fault.
    fn lasts(self) -> bool {
        matches!(self, Self::Behind | Self::Promoted | Self::OtherHistory)
    }
}

impl ReadReplica {
    /// Connects when it is read from, and watches the server.
    pub(crate) fn open(
        number: usize,
        url: &SecretString,
        settings: &DatabaseSettings,
        replayed: CheckedStatement,
    ) -> Result<Self, StorageError> {
        let pool = SessionPool::new(url, settings, Reachability::of(ServerRole::ReadReplica(number)))?;
        pool.reachability.watch(Connector::bare(url)?);
        Ok(Self { number, pool, replayed, backoff: ReadBackoff::default(), logged: AtomicU8::new(0) })
    }

    /// Whether the next read may try it: it is there, and was not found unusable a moment ago.
    pub(crate) fn may_be_asked(&self) -> bool {
        !self.pool.reachability.is_away() && self.backoff.may_ask(Instant::now())
    }

    /// The rows, when the read replica has replayed the LSN; `None` when the primary has to answer.
    pub(crate) async fn read(&self, statement: &CheckedStatement, lsn: &WalLsn) -> Option<Rows> {
        let unfit = match self.pool.read(&[Query::new(&self.replayed), Query::new(statement)]).await {
            Ok(answers) => {
                let mut answers = answers.into_iter();
                match lsn.compare(&answers.next().unwrap_or_default()) {
                    Ok(ReplayProgress::Reached) => {
                        self.backoff.was_used();
                        count("replica");
                        return Some(answers.next().unwrap_or_default());
                    }
                    Ok(ReplayProgress::Behind) => NotUsedReason::Behind,
                    Ok(ReplayProgress::Promoted) => NotUsedReason::Promoted,
                    Ok(ReplayProgress::OtherHistory) => NotUsedReason::OtherHistory,
                    Err(_malformed) => NotUsedReason::Failed,
                }
            }
            Err(StorageError::Unavailable(_)) => {
                self.pool.report_failure();
                NotUsedReason::Away
            }
            Err(error) => {
                tracing::debug!(number = self.number, %error, "a read replica failed a read");
                NotUsedReason::Failed
            }
        };
        self.pass_on(unfit);
        None
    }

    /// Counts what the primary answers without a question to this one.
    pub(crate) fn pass_on_unasked(&self) {
        if self.pool.reachability.is_away() {
            self.pass_on(NotUsedReason::Away);
        } else {
            count("backoff");
        }
    }

    fn pass_on(&self, unfit: NotUsedReason) {
        count(unfit.label());
        if unfit.lasts() {
            self.backoff.was_unusable(Instant::now());
        }
        let bit = 1 << (unfit as u8);
        if self.logged.fetch_or(bit, Relaxed) & bit == 0 {
            tracing::warn!(
                number = self.number,
                reason = unfit.text(),
                "a read replica was not used, and the primary answered; this reason is logged once, and then counted only"
            );
        }
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

fn count(source: &'static str) {
    metrics::counter!("gateway_read_replica_reads_total", "result" => source).increment(1);
}

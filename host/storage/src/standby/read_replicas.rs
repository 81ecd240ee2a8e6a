//! The read replicas of `database.read_urls`, and whose turn it is.

use crate::{
    check::{AccessMode, StatementChecker},
    error::StorageError,
    postgres::{PostgresEngine, ReadReplica},
    scope::Scope,
    settings::DatabaseSettings,
    standby::wal_lsn,
};
use plugin_api::sql;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

#[derive(Default)]
pub(crate) struct ReadReplicas {
    list: Vec<Arc<ReadReplica>>,
    next: AtomicUsize,
}

impl ReadReplicas {
    /// None where the primary's log cannot be compared with a read replica's.
    pub(crate) async fn open(
        settings: &DatabaseSettings,
        primary: &PostgresEngine,
        checker: &StatementChecker,
    ) -> Result<Self, StorageError> {
        if settings.read_urls.is_empty() {
            return Ok(Self::default());
        }
        let current = checker.check(&Scope::Host, sql(wal_lsn::CURRENT).into(), AccessMode::ReadOnly)?;
        match primary.read(&current).await {
            Ok(_) => {}
            Err(error @ StorageError::Unavailable(_)) => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "database.read_urls is not used: the server does not tell the LSN of its log");
                return Ok(Self::default());
            }
        }
        let open = |(index, url)| {
            let replayed = checker.check(&Scope::Host, wal_lsn::replayed_statement(), AccessMode::ReadOnly)?;
            ReadReplica::open(index, url, settings, replayed).map(Arc::new)
        };
        let list = (1..).zip(&settings.read_urls).map(open).collect::<Result<_, _>>()?;
        Ok(Self { list, next: AtomicUsize::new(0) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One after the other, without those that are away, or were found behind or promoted a moment ago.
    pub(crate) fn choose(&self) -> Option<&Arc<ReadReplica>> {
        let first = self.next.fetch_add(1, Relaxed);
        let turn = |offset: usize| self.list.get(first.wrapping_add(offset) % self.list.len());
        let mut turns = (0..self.list.len()).filter_map(turn);
        let chosen = turns.find(|read_replica| read_replica.may_be_asked());
        if chosen.is_none() {
            self.list.iter().take(1).for_each(|read_replica| read_replica.pass_on_unasked());
        }
        chosen
    }

    pub(crate) async fn close(&self) {
        for read_replica in &self.list {
            read_replica.close().await;
        }
    }
}

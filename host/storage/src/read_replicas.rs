//! The standbys of `database.read_urls`, and which reads may go to them.
//!
//! The rule that must not break: **a read of a standby is as new as a cached response would have to be**: it has every commit that
//! the last read of the versions counted, which is as old as `database.staleness_ms` allows, and what the client has written.
//! Whatever was derived from the versions before, such as a revision that a response is cached by, is not newer than the read.

use crate::{
    check::{CheckedStatement, Purpose, StatementChecker},
    database::Database,
    error::StorageError,
    postgres::{PostgresEngine, ReadReplica},
    read_source::{self, ReadSource},
    scope::Scope,
    settings::DatabaseSettings,
    versions::Position,
    wal_place,
};
use plugin_api::{abi::Rows, sql};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

#[derive(Default)]
pub struct ReadReplicas {
    replicas: Vec<Arc<ReadReplica>>,
    next: AtomicUsize,
}

impl ReadReplicas {
    /// None where the primary's log cannot be compared with a standby's.
    pub async fn open(
        settings: &DatabaseSettings,
        primary: &PostgresEngine,
        checker: &StatementChecker,
    ) -> Result<Self, StorageError> {
        if settings.read_urls.is_empty() {
            return Ok(Self::default());
        }
        let current = checker.check(&Scope::Host, sql(wal_place::CURRENT).into(), Purpose::Read)?;
        match primary.read(&current).await {
            Ok(_) => {}
            Err(error @ StorageError::Unavailable(_)) => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "database.read_urls is not used: the server does not tell the place in its log");
                return Ok(Self::default());
            }
        }
        let open = |(index, url)| {
            let replayed = checker.check(&Scope::Host, wal_place::replayed_statement(), Purpose::Read)?;
            ReadReplica::open(index, url, settings, replayed).map(Arc::new)
        };
        let replicas = (1..).zip(&settings.read_urls).map(open).collect::<Result<_, _>>()?;
        Ok(Self { replicas, next: AtomicUsize::new(0) })
    }

    pub fn is_empty(&self) -> bool {
        self.replicas.is_empty()
    }

    /// One after the other, without those that are away.
    fn choose(&self) -> Option<&Arc<ReadReplica>> {
        let first = self.next.fetch_add(1, Relaxed);
        let turn = |offset: usize| self.replicas.get(first.wrapping_add(offset) % self.replicas.len());
        let mut turns = (0..self.replicas.len()).filter_map(turn);
        let chosen = turns.find(|replica| !replica.is_away());
        if chosen.is_none() {
            self.replicas.iter().take(1).for_each(|replica| replica.pass_on_while_away());
        }
        chosen
    }

    pub async fn close(&self) {
        for replica in &self.replicas {
            replica.close().await;
        }
    }
}

impl Database {
    /// Where a request that only reads may read, for a client that knows the position `at_least`. `None` for the primary: without
    /// `database.read_urls`, while no standby can be used, and, where nothing may be old, for a client that sends no position.
    pub async fn read_source(&self, at_least: Option<Position>) -> Option<ReadSource> {
        let replicas = &self.inner.read_replicas;
        if replicas.is_empty() || (at_least.is_none() && !self.inner.versions.may_be_stale()) {
            return None;
        }
        let replica = Arc::clone(replicas.choose()?);
        self.recent_revisions(at_least).await?;
        Some(ReadSource::new(replica))
    }

    /// The answer of the request's read replica; `None` when the primary has to answer, this read and all later ones.
    pub(crate) async fn read_from_replica(&self, scope: &Scope, statement: &CheckedStatement) -> Option<Rows> {
        let replica = read_source::current()?;
        let rows = match (scope, self.inner.versions.wal_place()) {
            (Scope::Plugin { .. }, Some(place)) => Box::pin(replica.read(statement, &place)).await,
            // What the gateway reads for itself, it keeps in memory for other requests, too.
            (Scope::Host, _) | (_, None) => None,
        };
        if rows.is_none() {
            read_source::leave();
        }
        rows
    }
}

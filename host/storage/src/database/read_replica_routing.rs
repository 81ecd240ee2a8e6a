//! Which reads may go to a read replica of `database.read_urls`.
//!
//! The rule that must not break: **a read of a read replica is as new as a cached response would have to be**: it has every commit that
//! the last read of the versions counted, which is as old as `database.staleness_ms` allows, and what the client has written.
//! Whatever was derived from the versions before, such as a revision that a response is cached by, is not newer than the read.

use crate::{
    caching::versions::ChangeCount,
    check::CheckedStatement,
    database::Database,
    scope::Scope,
    standby::read_source::{self, ReadSource},
};
use plugin_api::abi::Rows;
use std::sync::Arc;

impl Database {
    /// Where a request that only reads may read, for a client that knows the change count `at_least`. `None` for the primary: without
    /// `database.read_urls`, while no read replica can be used, and, where nothing may be old, for a client that sends no position.
    pub async fn read_source(&self, at_least: Option<ChangeCount>) -> Option<ReadSource> {
        let read_replicas = &self.inner.read_replicas;
        if read_replicas.is_empty() || (at_least.is_none() && !self.inner.versions.may_be_stale()) {
            return None;
        }
        let read_replica = Arc::clone(read_replicas.choose()?);
        self.recent_revisions(at_least).await?;
        Some(ReadSource::new(read_replica))
    }

    /// The answer of the request's read replica; `None` when the primary has to answer, this read and all later ones.
    pub(crate) async fn read_from_read_replica(&self, scope: &Scope, statement: &CheckedStatement) -> Option<Rows> {
        let read_replica = read_source::current()?;
        let rows = match (scope, self.inner.versions.wal_lsn()) {
            (Scope::Plugin { .. }, Some(lsn)) => Box::pin(read_replica.read(statement, &lsn)).await,
            // What the gateway reads for itself, it keeps in memory for other requests, too.
            (Scope::Host, _) | (_, None) => None,
        };
        if rows.is_none() {
            read_source::leave();
        }
        rows
    }
}

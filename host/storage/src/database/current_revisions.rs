//! The revisions of the stored data on either engine, as a cached response needs them: on SQLite they are always current, on
//! PostgreSQL they follow from a read of the versions.

use crate::{
    caching::{
        read_tracking,
        revisions::Revisions,
        versions::{self, ChangeCount},
    },
    check::AccessMode,
    commit_statement::CommitStatement,
    database::{Database, engine::Engine},
    error::StorageError,
    scope::Scope,
};
use plugin_api::abi::Rows;
use std::sync::Arc;

impl Database {
    /// The revisions as they were last seen: without [`Self::current_revisions`] they say nothing about what is cached.
    pub fn revisions(&self) -> &Arc<Revisions> {
        match &self.inner.engine {
            Engine::Sqlite(sqlite) => sqlite.revisions(),
            Engine::Postgres(_) => self.inner.versions.revisions(),
            #[cfg(feature = "simulation")]
            Engine::Simulated(_) => self.inner.versions.revisions(),
        }
    }

    /// The revisions with every commit that was acknowledged before this call. `None` when they cannot be read: then nothing
    /// that is cached may be used, and nothing be cached.
    pub async fn current_revisions(&self) -> Option<&Arc<Revisions>> {
        if self.has_one_writer() {
            return Some(self.revisions());
        }
        // What a tracked response is made from is judged by the revisions that its request began with.
        let is_current =
            read_tracking::is_tracked() || Box::pin(self.inner.versions.refresh(|| self.read_versions())).await;
        is_current.then(|| self.revisions())
    }

    /// Whether [`Self::current_revisions`] takes a round trip to the database.
    pub fn has_to_ask_for_revisions(&self) -> bool {
        !self.has_one_writer() && !read_tracking::is_tracked()
    }

    /// As [`Self::current_revisions`], and as old as `database.staleness_ms` allows, but not older than `at_least`.
    pub async fn recent_revisions(&self, at_least: Option<ChangeCount>) -> Option<&Arc<Revisions>> {
        if self.has_one_writer() {
            return Some(self.revisions());
        }
        let read = || self.read_versions();
        Box::pin(self.inner.versions.refresh_if_old(at_least, read)).await.then(|| self.revisions())
    }

    /// A change count that has every commit which was acknowledged before this call. `None` where a client needs none, because
    /// nothing that it reads is older than its write, and when it cannot be read.
    pub async fn change_count(&self) -> Option<ChangeCount> {
        if self.has_one_writer() {
            return None;
        }
        let versions = &self.inner.versions;
        let is_current = versions.gives_change_counts() && Box::pin(versions.refresh(|| self.read_versions())).await;
        if is_current { versions.change_count() } else { None }
    }

    /// What a transaction that changes data of this owner ends with, so that no other gateway uses what it has cached. Nothing
    /// on SQLite.
    pub fn change_statement(&self, owner: &str) -> Option<CommitStatement> {
        (!self.has_one_writer()).then(|| versions::change_statement(owner))
    }

    /// As [`Self::change_statement`], of a transaction that may have changed data of several owners.
    pub fn change_statement_of_all(&self) -> Option<CommitStatement> {
        self.change_statement(versions::EVERYTHING)
    }

    /// Replaces rows of changes by numbers, when there are many: see [`versions`]. Does nothing on SQLite.
    pub async fn compact_versions(&self) -> Result<(), StorageError> {
        if self.has_one_writer() {
            return Ok(());
        }
        let counts: Vec<i64> = self.fetch_all(versions::count_few_statement()).await?;
        if counts.first().is_none_or(|count| *count < i64::from(versions::COMPACTED_ROWS_MIN)) {
            return Ok(());
        }
        self.execute(versions::compact_statement()).await.map(drop)
    }

    /// Not by [`Self::read`], which would count it among the reads of the response that is being built.
    async fn read_versions(&self) -> Result<Rows, StorageError> {
        let statement =
            self.inner.checker.check(&Scope::Host, self.inner.versions.read_statement(), AccessMode::ReadOnly)?;
        let rows = match &self.inner.engine {
            Engine::Sqlite(_) => Ok(Rows::default()),
            Engine::Postgres(postgres) => postgres.read(&statement).await,
            #[cfg(feature = "simulation")]
            Engine::Simulated(simulated) => simulated.read(&statement).await,
        };
        self.inner.record_availability(rows)
    }

    /// SQLite, whose commits this process sees itself.
    fn has_one_writer(&self) -> bool {
        matches!(self.inner.engine, Engine::Sqlite(_))
    }
}

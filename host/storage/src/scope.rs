//! On whose behalf a statement runs, and which tables it may use.
//!
//! The rule: a plugin reads and writes the tables whose names begin with its own, and reads published views; nothing
//! else.

use crate::{dialect::Dialect, error::StorageError};
use gateway_telemetry::{DatabaseUsage, HistogramTimer, Span, SpanKind, SpanStart};
use std::{collections::BTreeSet, sync::Arc};

/// Names of the views that a plugin may read.
pub type ViewNames = BTreeSet<String>;

/// The owner of the gateway's own tables and migrations.
pub const HOST_OWNER: &str = "host";

/// Prefixes that no plugin may use: those of the gateway's own tables and of the databases' catalogues.
const RESERVED_NAMES: [&str; 4] = [HOST_OWNER, "sqlite", "pg", "pragma"];

/// How the transactions of a plugin are kept apart on PostgreSQL. On SQLite they run one after the other in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// One after the other, by a lock of the plugin that is held until the commit: for transactions that cannot run again.
    #[default]
    PluginLock,
    /// At the same time. One that conflicts with another ends with [`crate::StorageError::Conflict`] and may run again.
    Serializable,
}

#[derive(Clone, Debug)]
pub enum Scope {
    /// The gateway's own statements, which may use every table.
    Host,
    Plugin {
        name: Arc<str>,
        /// Published views of the enabled plugins.
        views: Arc<ViewNames>,
        /// The only tables that it may write; `None` for all of its own.
        writes: Option<Arc<BTreeSet<String>>>,
        isolation: Isolation,
        /// Its transactions may take this many times `database.transaction_timeout_ms`.
        time_factor: u32,
        usage: Arc<DatabaseUsage>,
    },
}

impl Scope {
    pub fn plugin(name: &str, views: Arc<ViewNames>) -> Self {
        Self::Plugin {
            name: name.into(),
            views,
            writes: None,
            isolation: Isolation::default(),
            time_factor: 1,
            usage: Arc::default(),
        }
    }

    #[must_use]
    pub fn with_isolation(mut self, new: Isolation) -> Self {
        if let Self::Plugin { isolation, .. } = &mut self {
            *isolation = new;
        }
        self
    }

    /// The same plugin, whose transactions may take `factor` times `database.transaction_timeout_ms`.
    #[must_use]
    pub fn with_time_factor(&self, factor: u32) -> Self {
        let mut scope = self.clone();
        if let Self::Plugin { time_factor, .. } = &mut scope {
            *time_factor = factor;
        }
        scope
    }

    /// The same plugin, restricted to writing these tables.
    #[must_use]
    pub fn writing_only(&self, tables: BTreeSet<String>) -> Self {
        let mut scope = self.clone();
        if let Self::Plugin { writes, .. } = &mut scope {
            *writes = Some(Arc::new(tables));
        }
        scope
    }

    /// Adds the time of its statements to this usage.
    #[must_use]
    pub fn with_usage(mut self, shared: Arc<DatabaseUsage>) -> Self {
        if let Self::Plugin { usage, .. } = &mut self {
            *usage = shared;
        }
        self
    }

    pub(crate) fn time_factor(&self) -> u32 {
        match self {
            Self::Host => 1,
            Self::Plugin { time_factor, .. } => *time_factor,
        }
    }

    pub(crate) fn time_read(&self) -> Option<HistogramTimer<'_>> {
        self.usage().map(|usage| usage.read.start_timer())
    }

    pub(crate) fn time_write(&self) -> Option<HistogramTimer<'_>> {
        self.usage().map(|usage| usage.write.start_timer())
    }

    /// A call of the database as a step of what the task does; without the text of a statement.
    pub(crate) fn span(&self, name: &'static str, dialect: Dialect) -> Option<Span> {
        SpanStart::now().map(|start| self.span_since(start, name, dialect))
    }

    pub(crate) fn span_since(&self, start: SpanStart, name: &'static str, dialect: Dialect) -> Span {
        let span = start.child(name, SpanKind::Client);
        span.set("db.system.name", dialect.system_name());
        span.set("gateway.plugin", self.plugin_name().unwrap_or("host").to_owned());
        span
    }

    /// Ends the span of a call, with the kind of its error.
    pub(crate) fn end_span<T>(span: Option<Span>, result: &Result<T, StorageError>) {
        if let (Some(span), Err(error)) = (span, result) {
            span.fail(error.label());
        }
    }

    fn usage(&self) -> Option<&DatabaseUsage> {
        match self {
            Self::Host => None,
            Self::Plugin { usage, .. } => Some(usage),
        }
    }

    pub(crate) fn owner(&self) -> Option<Arc<str>> {
        match self {
            Self::Host => None,
            Self::Plugin { name, .. } => Some(Arc::clone(name)),
        }
    }

    pub fn plugin_name(&self) -> Option<&str> {
        match self {
            Self::Host => None,
            Self::Plugin { name, .. } => Some(name),
        }
    }
}

/// Whether the name of the table (or index, or view) makes it the plugin's.
pub(crate) fn owns_table(plugin: &str, table: &str) -> bool {
    !is_reserved(plugin) && table.strip_prefix(plugin).is_some_and(|rest| rest.len() > 1 && rest.starts_with('_'))
}

/// Whether the name is refused for a plugin.
pub fn is_reserved(plugin: &str) -> bool {
    RESERVED_NAMES.iter().any(|reserved| shares_tables(reserved, plugin))
}

/// Whether two plugins cannot share one database: with `ai` and `ai_cv`, a table `ai_cv_entries` would belong to both.
pub fn shares_tables(one: &str, other: &str) -> bool {
    let begins =
        |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    begins(one, other) || begins(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_belongs_to_the_plugin_that_it_is_named_after() {
        assert!(owns_table("forum", "forum_threads"));
        assert!(!owns_table("forum", "forum") && !owns_table("forum", "forum_") && !owns_table("forum", "forums_x"));
        assert!(!owns_table("host", "host_keys") && !owns_table("sqlite", "sqlite_master"));
        assert!(is_reserved("pg_temp") && is_reserved("host_job") && !is_reserved("pgp") && !is_reserved("hosting"));
    }

    #[test]
    fn names_that_share_tables_are_found() {
        assert!(shares_tables("ai", "ai_cv") && shares_tables("ai_cv", "ai"));
        assert!(!shares_tables("ai", "aicv"));
    }
}

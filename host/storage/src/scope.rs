//! Who runs a statement, and which tables that one may name.
//!
//! The rule: a plugin reads and writes the tables that begin with its own name, and reads published views; nothing else.

use gateway_telemetry::{DatabaseUsage, HistogramTimer};
use std::{collections::BTreeSet, sync::Arc};

/// Whether they run. PostgreSQL's always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triggers {
    On,
    Off,
}

/// Names of the views that a plugin may read.
pub type ViewNames = BTreeSet<String>;

/// Plugin names whose prefix would be somebody else's: the gateway's own tables and the databases' own catalogues.
const RESERVED_NAMES: [&str; 4] = ["host", "sqlite", "pg", "pragma"];

#[derive(Clone, Debug)]
pub enum Scope {
    /// The gateway's own statements: every table.
    Host,
    Plugin {
        name: Arc<str>,
        /// Published views of the enabled plugins.
        views: Arc<ViewNames>,
        /// The only tables that it may write, where that is less than all of its own.
        writes: Option<Arc<BTreeSet<String>>>,
        /// Whether its transactions do without the journal of derived tables.
        is_unjournaled: bool,
        usage: Arc<DatabaseUsage>,
    },
}

impl Scope {
    pub fn plugin(name: &str, views: Arc<ViewNames>) -> Self {
        Self::Plugin { name: name.into(), views, writes: None, is_unjournaled: false, usage: Arc::default() }
    }

    /// The same plugin while it may write these tables only.
    #[must_use]
    pub fn writing_only(&self, tables: BTreeSet<String>) -> Self {
        let mut scope = self.clone();
        if let Self::Plugin { writes, .. } = &mut scope {
            *writes = Some(Arc::new(tables));
        }
        scope
    }

    /// The same plugin while it writes derived rows that are never taken back.
    #[must_use]
    pub fn unjournaled(&self) -> Self {
        let mut scope = self.clone();
        if let Self::Plugin { is_unjournaled, .. } = &mut scope {
            *is_unjournaled = true;
        }
        scope
    }

    /// Its time in the database is counted there.
    #[must_use]
    pub fn counted_in(mut self, counted: Arc<DatabaseUsage>) -> Self {
        if let Self::Plugin { usage, .. } = &mut self {
            *usage = counted;
        }
        self
    }

    pub(super) fn time_read(&self) -> Option<HistogramTimer<'_>> {
        self.usage().map(|usage| usage.read.start_timer())
    }

    pub(super) fn time_write(&self) -> Option<HistogramTimer<'_>> {
        self.usage().map(|usage| usage.write.start_timer())
    }

    fn usage(&self) -> Option<&DatabaseUsage> {
        match self {
            Self::Host => None,
            Self::Plugin { usage, .. } => Some(usage),
        }
    }

    /// The gateway alone makes triggers, for the journal of derived tables.
    pub(super) fn triggers(&self) -> Triggers {
        match self {
            Self::Plugin { is_unjournaled: true, .. } => Triggers::Off,
            Self::Plugin { .. } | Self::Host => Triggers::On,
        }
    }

    pub fn plugin_name(&self) -> Option<&str> {
        match self {
            Self::Host => None,
            Self::Plugin { name, .. } => Some(name),
        }
    }
}

/// Whether the table (or index, or view) belongs to the plugin by its name.
pub(super) fn owns(plugin: &str, table: &str) -> bool {
    !is_reserved(plugin) && table.strip_prefix(plugin).is_some_and(|rest| rest.len() > 1 && rest.starts_with('_'))
}

/// Whether no plugin may have this name.
pub fn is_reserved(plugin: &str) -> bool {
    RESERVED_NAMES.iter().any(|reserved| shares_tables(reserved, plugin))
}

/// Whether two plugins cannot live in one database: with `ai` and `ai_cv`, a table `ai_cv_entries` would belong to both.
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
        assert!(owns("forum", "forum_threads"));
        assert!(!owns("forum", "forum") && !owns("forum", "forum_") && !owns("forum", "forums_x"));
        assert!(!owns("host", "host_keys") && !owns("sqlite", "sqlite_master"));
        assert!(is_reserved("pg_temp") && is_reserved("host_job") && !is_reserved("pgp") && !is_reserved("hosting"));
    }

    #[test]
    fn names_that_share_tables_are_found() {
        assert!(shares_tables("ai", "ai_cv") && shares_tables("ai_cv", "ai"));
        assert!(!shares_tables("ai", "aicv"));
    }
}

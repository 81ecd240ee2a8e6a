//! The migrations of one owner of tables.

use crate::scope::{HOST_OWNER, Scope};
use plugin_api::manifest::MigrationSpec;

/// The migrations of one plugin, or the gateway's own (in [`Scope::Host`]).
pub struct MigrationSet<'a> {
    /// The owner, and which published views its own views may read.
    pub scope: &'a Scope,
    /// Names of the views that the owner publishes.
    pub views: &'a [String],
    pub migrations: &'a [MigrationSpec],
}

impl MigrationSet<'_> {
    pub fn owner(&self) -> &str {
        self.scope.plugin_name().unwrap_or(HOST_OWNER)
    }

    pub(super) fn is_host(&self) -> bool {
        matches!(self.scope, Scope::Host)
    }
}

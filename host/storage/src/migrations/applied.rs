//! The record of applied migrations.

pub(crate) const CREATE_MIGRATIONS_TABLE: &str = "CREATE TABLE IF NOT EXISTS _migrations (
    plugin TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (plugin, version)
)";

/// A row of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedMigration {
    pub plugin: String,
    pub version: u32,
    pub name: String,
    /// SHA-256 of its text, in hex.
    pub checksum: String,
    /// Unix seconds.
    pub applied_at: i64,
}

/// What a call of `migrate` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// Versions that this call applied.
    pub applied: Vec<u32>,
    /// How many had been applied before.
    pub earlier: usize,
}

//! Brings a plugin's tables up to date: all pending migrations of one plugin in one transaction.
//!
//! The rule: after a failure the database is exactly as before, and a migration that was applied never changes.

use super::{Dialect, Scope, StorageError, check, scope::is_reserved};
use plugin_api::manifest::MigrationSpec;
use sha2::{Digest, Sha256};

/// Who the gateway's own migrations belong to.
pub const HOST: &str = "host";

/// The table that records what was applied.
pub const RECORD_TABLE: &str = "CREATE TABLE IF NOT EXISTS _migrations (
    plugin TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (plugin, version)
)";

/// One plugin's migrations, or the gateway's own (in [`Scope::Host`]).
pub struct Schema<'a> {
    /// Whose they are, and which published views their own views may read.
    pub scope: &'a Scope,
    /// Names of the views that they publish.
    pub views: &'a [String],
    pub migrations: &'a [MigrationSpec],
}

/// What a call of `migrate` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// Versions applied by this call.
    pub applied: Vec<u32>,
    /// How many had been applied before.
    pub earlier: usize,
}

/// A migration as the database remembers it.
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

/// A migration ready to run on one database.
pub struct Step {
    pub version: u32,
    pub name: String,
    pub checksum: String,
    pub sql: String,
}

impl Schema<'_> {
    pub fn owner(&self) -> &str {
        self.scope.plugin_name().unwrap_or(HOST)
    }

    pub(super) fn is_host(&self) -> bool {
        matches!(self.scope, Scope::Host)
    }

    /// All steps in order, checked, before the database is asked anything.
    pub(super) fn steps(&self, dialect: Dialect) -> Result<Vec<Step>, StorageError> {
        let owner = self.owner();
        if !self.is_host() && is_reserved(owner) {
            return Err(failure(format!("{owner} is a reserved name")));
        }
        let mut specs: Vec<&MigrationSpec> = self.migrations.iter().collect();
        specs.sort_by_key(|spec| spec.version);
        (1..).zip(specs).map(|(expected, spec)| self.step(spec, expected, dialect)).collect()
    }

    fn step(&self, spec: &MigrationSpec, expected: u32, dialect: Dialect) -> Result<Step, StorageError> {
        let owner = self.owner();
        if spec.version != expected {
            return Err(failure(format!(
                "{owner}'s migrations are numbered 1, 2, 3, …: {expected} is missing or {} is there twice",
                spec.version
            )));
        }
        let text = source(spec, dialect);
        let sql = render(text, dialect);
        check::schema::check(self, &sql, dialect)
            .map_err(|reason| failure(format!("{}: {reason}", title(owner, spec.version, &spec.name))))?;
        Ok(Step { version: spec.version, name: spec.name.clone(), checksum: checksum(text), sql })
    }
}

/// What remains to be done, given what the database remembers of this plugin (ordered by version).
pub(super) fn pending(owner: &str, steps: Vec<Step>, applied: &[AppliedMigration]) -> Result<Vec<Step>, StorageError> {
    for (known, step) in applied.iter().zip(&steps) {
        if known.version != step.version {
            return Err(failure(format!("the record of {owner}'s migrations has a hole before {}", known.version)));
        }
        if known.checksum != step.checksum {
            return Err(failure(format!(
                "{} was changed after it was applied: add a new migration instead",
                title(owner, step.version, &step.name)
            )));
        }
    }
    if let Some(newer) = applied.get(steps.len()) {
        return Err(failure(format!(
            "the database is newer than this build of {owner}: {} was applied by a later one",
            title(owner, newer.version, &newer.name)
        )));
    }
    Ok(steps.into_iter().skip(applied.len()).collect())
}

/// Refuses what a later version of anybody has applied; answers who is not among the known.
pub(super) fn check_known(
    known: &[Schema<'_>],
    applied: &[AppliedMigration],
    dialect: Dialect,
) -> Result<Vec<String>, StorageError> {
    let mut unknown = Vec::new();
    for of_owner in applied.chunk_by(|one, next| one.plugin == next.plugin) {
        let owner = of_owner.first().map(|migration| migration.plugin.as_str()).unwrap_or_default();
        match known.iter().find(|schema| schema.owner() == owner) {
            Some(schema) => drop(pending(owner, schema.steps(dialect)?, of_owner)?),
            None => unknown.push(owner.to_owned()),
        }
    }
    Ok(unknown)
}

pub(super) fn failed_step(owner: &str, step: &Step, error: &StorageError) -> StorageError {
    match error {
        StorageError::Unavailable(_) | StorageError::Timeout(_) => error.clone(),
        other => failure(format!("{} failed: {other}", title(owner, step.version, &step.name))),
    }
}

pub(super) fn report(steps: &[Step], earlier: usize) -> MigrationReport {
    MigrationReport { applied: steps.iter().map(|step| step.version).collect(), earlier }
}

fn failure(text: String) -> StorageError {
    StorageError::Migration(super::error::one_line(&text))
}

fn title(owner: &str, version: u32, name: &str) -> String {
    format!("{owner} migration {version} ({name})")
}

fn source(spec: &MigrationSpec, dialect: Dialect) -> &str {
    match (&spec.postgres, dialect) {
        (Some(text), Dialect::Postgres) => text,
        _ => &spec.sql,
    }
}

/// A number that is the primary key, as plugins write it.
const KEY: &str = "BIGINT NOT NULL PRIMARY KEY";
/// The same type by the one name by which SQLite makes the number of a row of it: no index of its own stands between.
const ROW_NUMBER: &str = "INTEGER NOT NULL PRIMARY KEY";

fn render(text: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => text
            .replace(KEY, ROW_NUMBER)
            .replace("{{id}}", "INTEGER PRIMARY KEY AUTOINCREMENT")
            .replace("{{blob}}", "BLOB"),
        Dialect::Postgres => {
            text.replace("{{id}}", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY").replace("{{blob}}", "BYTEA")
        }
    }
}

/// Over the text as written, so that the gateway may improve what a placeholder stands for.
fn checksum(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

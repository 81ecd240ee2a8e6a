//! Migrations, checked and rendered for one database, and compared with those that were applied before.

use super::{
    applied::{AppliedMigration, MigrationReport},
    check::check_migration,
    count_changes::CountReplacement,
    directives::{count_replacements, with_directives, without_directives},
    failure::FAILURE_CHARS_MAX,
    schema::MigrationSet,
};
use crate::{
    dialect::Dialect,
    error::{StorageError, error_line},
    scope::is_reserved,
};
use plugin_api::{host::sanitize_line, manifest::MigrationSpec};
use sha2::{Digest, Sha256};

/// A checked migration in the SQL of one database.
pub(crate) struct RenderedMigration {
    pub version: u32,
    pub name: String,
    pub checksum: String,
    pub sql: String,
    /// For one that an earlier version of the gateway applied; none on SQLite.
    pub count_replacements: Vec<CountReplacement>,
}

/// All migrations in order, checked before the database is used.
pub(crate) fn steps(schema: &MigrationSet<'_>, dialect: Dialect) -> Result<Vec<RenderedMigration>, StorageError> {
    let mut problems = Vec::new();
    let steps: Vec<RenderedMigration> =
        checked_steps(schema, dialect).filter_map(|step| step.map_err(|problem| problems.push(problem)).ok()).collect();
    if problems.is_empty() { Ok(steps) } else { Err(failure(&problems.join("; "))) }
}

/// The migrations for the simulated PostgreSQL, checked as PostgreSQL's. `text` is what a migration runs there.
#[cfg(feature = "simulation")]
pub(crate) fn simulated_steps(
    schema: &MigrationSet<'_>,
    text: impl Fn(&MigrationSpec) -> Result<String, String>,
) -> Result<Vec<RenderedMigration>, StorageError> {
    let mut steps = steps(schema, Dialect::Postgres)?;
    for step in &mut steps {
        let spec = schema.migrations.iter().find(|spec| spec.version == step.version);
        let spec = spec.ok_or_else(|| failure("a migration is gone"))?;
        step.sql = text(spec).map_err(|reason| failure(&reason))?;
        step.count_replacements.clear();
    }
    Ok(steps)
}

/// What is wrong with each migration of the set, found without a database.
pub fn migration_problems(schema: &MigrationSet<'_>, dialect: Dialect) -> Vec<String> {
    checked_steps(schema, dialect).filter_map(Result::err).collect()
}

fn checked_steps<'a>(
    schema: &'a MigrationSet<'_>,
    dialect: Dialect,
) -> impl Iterator<Item = Result<RenderedMigration, String>> + 'a {
    let owner = schema.owner();
    let reserved = (!schema.is_host() && is_reserved(owner)).then(|| Err(format!("{owner} is a reserved name")));
    let mut specs: Vec<&MigrationSpec> = schema.migrations.iter().collect();
    specs.sort_by_key(|spec| spec.version);
    let checked = (1..).zip(specs).map(move |(expected, spec)| step(schema, spec, expected, dialect));
    reserved.into_iter().chain(checked)
}

fn step(
    schema: &MigrationSet<'_>,
    spec: &MigrationSpec,
    expected_version: u32,
    dialect: Dialect,
) -> Result<RenderedMigration, String> {
    let owner = schema.owner();
    if spec.version != expected_version {
        return Err(format!(
            "{owner}'s migrations are numbered 1, 2, 3, …: {expected_version} is missing or {} is there twice",
            spec.version
        ));
    }
    let text = source(spec, dialect);
    let problem = |reason: String| error_line(&format!("{}: {reason}", title(owner, spec.version, &spec.name)));
    let sql = checked(schema, text, dialect).map_err(problem)?;
    let count_replacements = match dialect {
        Dialect::Sqlite => Vec::new(),
        Dialect::Postgres => count_replacements(text).map_err(problem)?,
    };
    let (name, checksum) = (spec.name.clone(), checksum(text));
    Ok(RenderedMigration { version: spec.version, name, checksum, sql, count_replacements })
}

/// The text in the SQL of this database, after a check of all that its author wrote.
fn checked(schema: &MigrationSet<'_>, text: &str, dialect: Dialect) -> Result<String, String> {
    let own = without_directives(text, schema.owner())?;
    check_migration(schema, &render(&own, dialect), dialect)?;
    Ok(render(&with_directives(text, dialect)?, dialect))
}

/// The steps that are not applied yet. `applied` is the owner's record, ordered by version.
pub(crate) fn pending_steps(
    owner: &str,
    steps: Vec<RenderedMigration>,
    applied: &[AppliedMigration],
) -> Result<Vec<RenderedMigration>, StorageError> {
    for (recorded, step) in applied.iter().zip(&steps) {
        if recorded.version != step.version {
            return Err(failure(&format!("the record of {owner}'s migrations has a hole before {}", recorded.version)));
        }
        if recorded.checksum != step.checksum {
            return Err(failure(&format!(
                "{} was changed after it was applied: add a new migration instead",
                title(owner, step.version, &step.name)
            )));
        }
    }
    if let Some(newer) = applied.get(steps.len()) {
        return Err(failure(&format!(
            "the database is newer than this build of {owner}: {} was applied by a later one",
            title(owner, newer.version, &newer.name)
        )));
    }
    Ok(steps.into_iter().skip(applied.len()).collect())
}

/// Refuses migrations of a later version. Returns the owners that have no schema here.
pub(crate) fn check_applied(
    schemas: &[MigrationSet<'_>],
    applied: &[AppliedMigration],
    dialect: Dialect,
) -> Result<Vec<String>, StorageError> {
    let mut unknown = Vec::new();
    for of_owner in applied.chunk_by(|one, next| one.plugin == next.plugin) {
        let owner = of_owner.first().map(|migration| migration.plugin.as_str()).unwrap_or_default();
        match schemas.iter().find(|schema| schema.owner() == owner) {
            Some(schema) => drop(pending_steps(owner, steps(schema, dialect)?, of_owner)?),
            None => unknown.push(owner.to_owned()),
        }
    }
    Ok(unknown)
}

/// Names the migration in the error, whose kind stays: one that waited too long may be tried again.
pub(crate) fn step_error(owner: &str, step: &RenderedMigration, error: StorageError) -> StorageError {
    let title = title(owner, step.version, &step.name);
    let named = |reason: String| format!("{title}: {reason}");
    match error {
        StorageError::Unavailable(reason) => StorageError::Unavailable(named(reason)),
        StorageError::Busy(reason) => StorageError::Busy(named(reason)),
        StorageError::Timeout(reason) => StorageError::Timeout(named(reason)),
        StorageError::Conflict(reason) => StorageError::Conflict(named(reason)),
        other => failure(&format!("{title} failed: {other}")),
    }
}

pub(crate) fn report(steps: &[RenderedMigration], earlier: usize) -> MigrationReport {
    MigrationReport { applied: steps.iter().map(|step| step.version).collect(), earlier }
}

fn failure(text: &str) -> StorageError {
    StorageError::Migration(sanitize_line(text, FAILURE_CHARS_MAX))
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

/// An integer primary key as plugins write it.
const PRIMARY_KEY: &str = "BIGINT NOT NULL PRIMARY KEY";
/// The same type by the only name that SQLite stores as the row id itself, without a separate index.
const ROWID_PRIMARY_KEY: &str = "INTEGER NOT NULL PRIMARY KEY";

fn render(text: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => text
            .replace(PRIMARY_KEY, ROWID_PRIMARY_KEY)
            .replace("{{id}}", "INTEGER PRIMARY KEY AUTOINCREMENT")
            .replace("{{blob}}", "BLOB"),
        Dialect::Postgres => {
            text.replace("{{id}}", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY").replace("{{blob}}", "BYTEA")
        }
    }
}

/// Of the text as written, so that the gateway may change what a placeholder expands to.
fn checksum(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

//! PostgreSQL through its own programs: an archive of `pg_dump`, put back in one transaction.

use super::{BackupError, Restore, Restored, draft::Draft, programs::Server};
use crate::{AppliedMigration, Dialect, StorageError, postgres};
use secrecy::SecretString;
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::{ffi::OsString, path::Path};

const DUMP: &str = "pg_dump";
const RESTORE: &str = "pg_restore";
/// Where a restore keeps the old tables; no backup has them.
const KEPT_SCHEMA: &str = "before_restore_";

/// What is in the schema of the gateway and belongs to no extension. A sequence of a column goes where its table goes.
const OWN_RELATIONS: &str = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT EXISTS
        (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('e', 'a', 'i'))";

/// The functions there, which triggers call.
const OWN_FUNCTIONS: &str = "SELECT p.oid::regprocedure AS signature FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace AND NOT EXISTS
        (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')";

pub async fn dump(url: &SecretString, draft: &Draft) -> Result<(), BackupError> {
    let server = Server::of(url)?;
    let flags = [
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        "--no-password",
        // A migration that runs now: wait for it, and not for ever.
        "--lock-wait-timeout=60s",
    ];
    let mut arguments: Vec<OsString> = flags.iter().map(Into::into).collect();
    arguments.push(format!("--exclude-schema={KEPT_SCHEMA}*").into());
    arguments.push(option("--file=", draft.path()));
    server.run(DUMP, &arguments).await.map_err(|error| match error {
        BackupError::Program { reason, .. } if reason.contains("could not write to output file") => {
            draft.failed(reason)
        }
        other => other,
    })?;
    read_through(&server, draft.path()).await
}

/// Reads and unpacks all of it, as a restore will.
async fn read_through(server: &Server, archive: &Path) -> Result<(), BackupError> {
    server.run(RESTORE, &[OsString::from("--file=/dev/null"), archive.into()]).await.map(drop)
}

pub async fn restore(order: &Restore<'_>) -> Result<Restored, BackupError> {
    let server = Server::of(&order.settings.url)?;
    let damaged = |error: BackupError| match error {
        BackupError::Program { reason, .. } => order.not_a_backup(reason),
        other => other,
    };
    read_through(&server, order.file).await.map_err(damaged)?;
    let applied = applied_in(&server, order.file).await.map_err(damaged)?;
    if applied.is_empty() {
        return Err(order.not_a_backup("it is another program's database"));
    }
    let unknown_plugins = order.check_known(&applied, Dialect::Postgres)?;

    let mut alone = postgres::connect(&order.settings.url).await?;
    if !postgres::lock_alone(&mut alone).await? {
        return Err(BackupError::InUse);
    }
    let is_there = !alone.fetch_all(OWN_RELATIONS).await.map_err(postgres::explain)?.is_empty();
    if is_there && !order.overwrites {
        return Err(BackupError::HasData);
    }
    let kept = is_there.then(|| format!("{KEPT_SCHEMA}{}", order.label.to_lowercase()));
    let opening = kept.as_deref().map_or_else(|| "BEGIN;\n".to_owned(), set_aside);
    let arguments = ["--file=-", "--no-owner", "--no-privileges"].map(OsString::from);
    let arguments = [arguments.as_slice(), &[order.file.into()]].concat();
    server.pour(&opening, (RESTORE, &arguments)).await?;
    settle(alone).await;
    Ok(Restored { kept: kept.map(|schema| format!("schema {schema}")), unknown_plugins })
}

/// The old tables and functions move into a schema of their own: a step of the same transaction that brings the new ones.
fn set_aside(schema: &str) -> String {
    format!(
        "BEGIN;
        CREATE SCHEMA {schema};
        DO $$ DECLARE own record; BEGIN
            FOR own IN {OWN_RELATIONS} LOOP
                EXECUTE format('ALTER TABLE %I.%I SET SCHEMA {schema}', current_schema(), own.relname);
            END LOOP;
            FOR own IN {OWN_FUNCTIONS} LOOP
                EXECUTE format('ALTER ROUTINE %s SET SCHEMA {schema}', own.signature);
            END LOOP;
        END $$;\n"
    )
}

/// The planner knows nothing of the new tables yet. Without it they are only slower at first.
async fn settle(mut connection: PgConnection) {
    if let Err(error) = connection.execute("ANALYZE").await {
        tracing::warn!(%error, "ANALYZE after the restore failed; the server does it by itself later");
    }
    // The lock goes with the connection in any case.
    let _ = connection.close().await;
}

/// What the archive says about migrations, in the text form of COPY.
async fn applied_in(server: &Server, archive: &Path) -> Result<Vec<AppliedMigration>, BackupError> {
    let flags = ["--data-only", "--table=_migrations", "--file=-"].map(OsString::from);
    let printed = server.run(RESTORE, &[flags.as_slice(), &[archive.into()]].concat()).await?;
    parse_copy(&String::from_utf8_lossy(&printed))
        .ok_or_else(|| StorageError::Internal("pg_restore prints the migrations in an unknown form".into()).into())
}

fn parse_copy(text: &str) -> Option<Vec<AppliedMigration>> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("COPY "));
    let Some(head) = lines.next() else { return Some(Vec::new()) };
    let columns: Vec<&str> = head.split(['(', ')']).nth(1)?.split(", ").collect();
    let rows = lines.take_while(|line| *line != "\\.");
    rows.map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| cells.get(columns.iter().position(|column| *column == name)?).copied();
        Some(AppliedMigration {
            plugin: cell("plugin")?.to_owned(),
            version: cell("version")?.parse().ok()?,
            name: cell("name")?.to_owned(),
            checksum: cell("checksum")?.to_owned(),
            applied_at: cell("applied_at")?.parse().ok()?,
        })
    })
    .collect()
}

fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn migrations_are_read_from_the_text_of_copy() {
        let text = "SET x = 1;\n\nCOPY public._migrations (plugin, version, name, checksum, applied_at) FROM stdin;\n\
                    host\t2\tguards\tabc\t1700000000\n\\.\n\nSELECT 1;\n";
        let read = parse_copy(text).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!((read[0].plugin.as_str(), read[0].version, read[0].checksum.as_str()), ("host", 2, "abc"));
        assert_eq!(parse_copy("-- nothing\n"), Some(Vec::new()));
    }
}

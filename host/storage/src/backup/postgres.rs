//! Backups of PostgreSQL by its own programs: `pg_dump` writes an archive, and one transaction restores it.

use super::{
    atomic_file::AtomicFile,
    error::BackupError,
    postgres_programs::PostgresPrograms,
    restore_request::{RestoreReport, RestoreRequest},
};
use crate::{
    dialect::Dialect,
    error::StorageError,
    migrations::AppliedMigration,
    postgres::{self, gateway_registration},
    restores,
};
use secrecy::SecretString;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use std::{ffi::OsString, path::Path};

const DUMP: &str = "pg_dump";
const RESTORE: &str = "pg_restore";
/// Prefix of the schema where a restore keeps the old tables; backups exclude it.
const OLD_DATA_SCHEMA: &str = "before_restore_";

/// The tables, views and sequences in the gateway's schema, without those of extensions and the table that says who has the
/// database open. A column's sequence moves with its table.
fn own_relations() -> String {
    format!(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND c.relname <> '{}' AND NOT EXISTS
        (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('e', 'a', 'i'))",
        gateway_registration::TABLE
    )
}

/// The functions in the gateway's schema, which triggers call.
const OWN_FUNCTIONS: &str = "SELECT p.oid::regprocedure AS signature FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace AND NOT EXISTS
        (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')";

/// Writes the archive and returns its applied migrations.
pub(crate) async fn dump(url: &SecretString, backup: &AtomicFile) -> Result<Vec<AppliedMigration>, BackupError> {
    let programs = PostgresPrograms::new(url)?;
    let flags = [
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        "--no-password",
        // Waits for a running migration, with a limit.
        "--lock-wait-timeout=60s",
    ];
    let mut arguments: Vec<OsString> = flags.iter().map(Into::into).collect();
    arguments.push(format!("--exclude-schema={OLD_DATA_SCHEMA}*").into());
    arguments.push(format!("--exclude-table={}", gateway_registration::TABLE).into());
    arguments.push(option("--file=", backup.path()));
    programs.run(DUMP, &arguments).await.map_err(|error| match error {
        BackupError::Program { reason, .. } if reason.contains("could not write to output file") => {
            backup.error(reason)
        }
        other => other,
    })?;
    read_whole_archive(&programs, backup.path()).await?;
    applied_migrations(&programs, backup.path()).await
}

/// Reads and unpacks the whole archive, as a restore does: this detects a damaged one.
async fn read_whole_archive(programs: &PostgresPrograms, archive: &Path) -> Result<(), BackupError> {
    programs.run(RESTORE, &[OsString::from("--file=/dev/null"), archive.into()]).await.map(drop)
}

pub(crate) async fn restore(request: &RestoreRequest<'_>) -> Result<RestoreReport, BackupError> {
    let programs = PostgresPrograms::new(&request.settings.url)?;
    let damaged = |error: BackupError| match error {
        BackupError::Program { reason, .. } => request.not_a_backup(reason),
        other => other,
    };
    read_whole_archive(&programs, request.file).await.map_err(damaged)?;
    let applied = applied_migrations(&programs, request.file).await.map_err(damaged)?;
    if applied.is_empty() {
        return Err(request.not_a_backup("it is another program's database"));
    }
    let unknown_plugins = request.check_applied(&applied, Dialect::Postgres)?;

    let mut connection = postgres::connect(&request.settings.url).await?;
    if !gateway_registration::claim_for_restore(&mut connection).await? {
        return Err(BackupError::InUse);
    }
    let restored = restore_claimed(request, &programs, &mut connection).await;
    gateway_registration::release_claim(&mut connection).await;
    let old_data = restored?;
    analyze(connection).await;
    Ok(RestoreReport {
        old_data: old_data.map(|schema| format!("schema {schema}")),
        unknown_plugins,
        has_manifest: false,
    })
}

/// Returns the schema that keeps what there was.
async fn restore_claimed(
    request: &RestoreRequest<'_>,
    programs: &PostgresPrograms,
    connection: &mut PgConnection,
) -> Result<Option<String>, BackupError> {
    let relations = connection.fetch_all(AssertSqlSafe(own_relations())).await;
    let has_data = !relations.map_err(postgres::storage_error)?.is_empty();
    if has_data && !request.overwrite {
        return Err(BackupError::HasData);
    }
    let old_data = has_data.then(|| format!("{OLD_DATA_SCHEMA}{}", request.label.to_lowercase()));
    let prologue = old_data.as_deref().map_or_else(|| "BEGIN;\n".to_owned(), move_old_data);
    // The archive has emptied the session's search path.
    let epilogue = format!("\nRESET search_path;\n{}\n", restores::record_text(request.now_ms));
    let arguments = ["--file=-", "--no-owner", "--no-privileges"].map(OsString::from);
    let arguments = [arguments.as_slice(), &[request.file.into()]].concat();
    gateway_registration::lock_absent_out(connection).await?;
    let restore = programs.pipe_into_psql(&prologue, (RESTORE, &arguments), &epilogue);
    gateway_registration::while_claimed(connection, restore).await?;
    Ok(old_data)
}

/// SQL that moves the old tables and functions into a separate schema, in the transaction that creates the new ones.
fn move_old_data(schema: &str) -> String {
    let own_relations = own_relations();
    format!(
        "BEGIN;
        CREATE SCHEMA {schema};
        DO $$ DECLARE own record; BEGIN
            FOR own IN {own_relations} LOOP
                EXECUTE format('ALTER TABLE %I.%I SET SCHEMA {schema}', current_schema(), own.relname);
            END LOOP;
            FOR own IN {OWN_FUNCTIONS} LOOP
                EXECUTE format('ALTER ROUTINE %s SET SCHEMA {schema}', own.signature);
            END LOOP;
        END $$;\n"
    )
}

/// Collects the planner's statistics of the new tables. Without them queries are only slower at first.
async fn analyze(mut connection: PgConnection) {
    if let Err(error) = connection.execute("ANALYZE").await {
        tracing::warn!(%error, "ANALYZE after the restore failed; the server does it by itself later");
    }
    let _ = connection.close().await;
}

/// The applied migrations in the archive, which `pg_restore` prints in the text format of COPY.
async fn applied_migrations(programs: &PostgresPrograms, archive: &Path) -> Result<Vec<AppliedMigration>, BackupError> {
    let flags = ["--data-only", "--table=_migrations", "--file=-"].map(OsString::from);
    let printed = programs.run(RESTORE, &[flags.as_slice(), &[archive.into()]].concat()).await?;
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

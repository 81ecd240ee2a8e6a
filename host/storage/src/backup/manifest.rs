//! The manifest beside a backup: what it is, and the checksum that tells whether it is still that.
//!
//! The rule: a backup with a manifest is restored only when size and checksum are those of the manifest. The database's own
//! check, which runs in any case, does not notice every changed byte.

use super::{atomic_file::AtomicFile, error::BackupError};
use crate::migrations::AppliedMigration;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
};

/// Read at a time for the checksum.
const CHUNK_BYTES: usize = 64 * 1024;
const SUFFIX: &str = ".manifest.json";

/// Who makes a backup, and when.
#[derive(Clone, Copy, Debug)]
pub struct BackupOrigin<'a> {
    pub gateway_version: &'a str,
    /// Unix milliseconds.
    pub created_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupManifest {
    /// Name of the file, without its folder.
    pub file: String,
    /// `SQLite` or `PostgreSQL`.
    pub database: String,
    pub gateway_version: String,
    /// Unix milliseconds.
    pub created_ms: i64,
    pub bytes: u64,
    /// Of the file, in hexadecimal digits, as `sha256sum` prints it.
    pub sha256: String,
    /// The last migration of the gateway (`host`) and of each plugin.
    pub migrations: BTreeMap<String, u32>,
}

impl BackupManifest {
    pub(super) fn new(
        backup: &AtomicFile,
        database: &str,
        origin: BackupOrigin<'_>,
        applied: &[AppliedMigration],
    ) -> Result<Self, BackupError> {
        let (bytes, sha256) = measure(backup.path()).map_err(|error| backup.error(error))?;
        let mut migrations = BTreeMap::new();
        for migration in applied {
            let last: &mut u32 = migrations.entry(migration.plugin.clone()).or_default();
            *last = migration.version.max(*last);
        }
        Ok(Self {
            file: backup.target().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            database: database.to_owned(),
            gateway_version: origin.gateway_version.to_owned(),
            created_ms: origin.created_ms,
            bytes,
            sha256,
            migrations,
        })
    }

    /// Gives the backup its name, then writes the manifest. A process that is killed in between leaves a sound backup without
    /// a manifest, and never one with the manifest of another.
    pub(super) fn persist_with(self, backup: AtomicFile) -> Result<Self, BackupError> {
        let path = manifest_path(backup.target());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(BackupError::target(&path, error)),
            _ => {}
        }
        backup.persist()?;
        let mut file = AtomicFile::new(&path, true)?;
        let text = serde_json::to_string_pretty(&self).unwrap_or_default() + "\n";
        file.file().write_all(text.as_bytes()).map_err(|error| file.error(error))?;
        file.persist()?;
        Ok(self)
    }
}

/// The file beside a backup that holds its manifest.
pub fn manifest_path(backup: &Path) -> PathBuf {
    let mut name = backup.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// Compares a backup with the manifest beside it. `false` when there is none.
pub(crate) fn verify(backup: &Path) -> Result<bool, BackupError> {
    let path = manifest_path(backup);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(BackupError::Source { path, source }),
    };
    let refuse = |reason: String| BackupError::NotABackup { path: backup.to_owned(), reason };
    let manifest: BackupManifest =
        serde_json::from_slice(&text).map_err(|error| refuse(format!("{} is no manifest: {error}", path.display())))?;
    let (bytes, sha256) = measure(backup).map_err(|source| BackupError::Source { path: backup.to_owned(), source })?;
    if (bytes, sha256.as_str()) != (manifest.bytes, manifest.sha256.as_str()) {
        return Err(refuse(format!(
            "it has {bytes} bytes and the checksum {sha256}, and {} says {} and {}",
            path.display(),
            manifest.bytes,
            manifest.sha256
        )));
    }
    Ok(true)
}

fn measure(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let (mut chunk, mut bytes) = (vec![0; CHUNK_BYTES], 0);
    loop {
        let count = file.read(&mut chunk)?;
        let Some(read) = chunk.get(..count).filter(|read| !read.is_empty()) else { break };
        hash.update(read);
        bytes += read.len() as u64;
    }
    Ok((bytes, hex::encode(hash.finalize())))
}

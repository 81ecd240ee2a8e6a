//! Backups that the gateway makes by itself, each beside the manifest that the command `backup` writes too.
//!
//! The rule: what is in the folder decides. A backup is due when the newest one there is as old as the interval, so that
//! neither a restart nor a second gateway on the folder makes more; and only files that carry our name are ever deleted.

use gateway_clock::Clock;
use gateway_config::BackupConfig;
use gateway_storage::{BackupError, BackupOrigin, Database, Dialect, manifest_path};
use jiff::Timestamp;
use parking_lot::Mutex;
use plugin_api::point::ServiceStatus;
use serde_json::{Map, json};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const PREFIX: &str = "gateway-";
/// In UTC, so that names sort by time.
const TIME_FORMAT: &str = "%Y%m%dT%H%M%SZ";
/// How long a failed backup waits for its next attempt, at most.
const RETRY_MS_MAX: i64 = 600_000;
/// How long a sleep may be: the clock of a machine can be set forward.
const SLEEP_MS_MAX: i64 = 60_000;
/// How late a backup may be before its service is not ok.
const LATE_S_MAX: i64 = 600;

pub struct Backups {
    database: Database,
    clock: Clock,
    settings: watch::Sender<BackupConfig>,
    state: Mutex<BackupState>,
    started_s: i64,
}

#[derive(Clone, Debug, Default)]
struct BackupState {
    /// Why the last attempt failed.
    error: Option<String>,
    /// When it failed, in Unix milliseconds.
    failed_ms: Option<i64>,
    /// Unix milliseconds of the newest backup in the folder.
    last_ms: Option<i64>,
}

#[derive(Debug, thiserror::Error)]
enum ScheduledBackupError {
    #[error("the folder {} cannot be used: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error("the folder cannot be listed: {0}")]
    Listing(String),
}

impl Backups {
    pub fn new(database: Database, clock: Clock, settings: BackupConfig) -> Self {
        let started_s = clock.now_s();
        Self { database, clock, settings: watch::Sender::new(settings), state: Mutex::default(), started_s }
    }

    /// Takes effect at once.
    pub fn configure(&self, settings: BackupConfig) {
        self.settings.send_if_modified(|current| std::mem::replace(current, settings.clone()) != settings);
    }

    /// Makes backups until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut settings = self.settings.subscribe();
        loop {
            let current = settings.borrow_and_update().clone();
            let wake_ms = self.tick(&current).await;
            tokio::select! {
                () = stop.cancelled() => return,
                changed = settings.changed() => if changed.is_err() { return },
                () = self.clock.sleep_until(wake_ms) => {}
            }
        }
    }

    /// Makes a backup if one is due. Returns when to look again.
    async fn tick(&self, settings: &BackupConfig) -> i64 {
        let now_ms = self.clock.now_ms();
        let Some(folder) = &settings.folder else {
            *self.state.lock() = BackupState::default();
            return i64::MAX;
        };
        let interval_ms = i64::try_from(settings.interval_s).unwrap_or(i64::MAX).saturating_mul(1000);
        let retry_ms = self.state.lock().failed_ms.map(|failed_ms| failed_ms + interval_ms.min(RETRY_MS_MAX));
        let due_ms = match self.newest(folder).await {
            Ok(newest) => {
                self.state.lock().last_ms = newest;
                newest.map_or(now_ms, |newest| newest.saturating_add(interval_ms)).max(retry_ms.unwrap_or(0))
            }
            Err(error) => {
                self.failed(&error, now_ms);
                now_ms + interval_ms.min(RETRY_MS_MAX)
            }
        };
        if due_ms <= now_ms {
            match self.make(settings, folder, now_ms).await {
                Ok(()) => *self.state.lock() = BackupState { last_ms: Some(now_ms), ..BackupState::default() },
                Err(error) => self.failed(&error, now_ms),
            }
            return self.clock.now_ms();
        }
        due_ms.min(now_ms + SLEEP_MS_MAX)
    }

    fn failed(&self, error: &ScheduledBackupError, now_ms: i64) {
        tracing::error!(%error, "the scheduled backup failed");
        let mut state = self.state.lock();
        (state.error, state.failed_ms) = (Some(error.to_string()), Some(now_ms));
    }

    async fn newest(&self, folder: &Path) -> Result<Option<i64>, ScheduledBackupError> {
        Ok(listed(folder.to_owned()).await?.last().map(|(at_ms, _)| *at_ms))
    }

    async fn make(&self, settings: &BackupConfig, folder: &Path, now_ms: i64) -> Result<(), ScheduledBackupError> {
        let suffix = match self.database.dialect() {
            Dialect::Sqlite => "db",
            Dialect::Postgres => "dump",
        };
        let file = folder.join(format!("{PREFIX}{}.{suffix}", time_text(now_ms)));
        let origin = BackupOrigin { gateway_version: env!("CARGO_PKG_VERSION"), created_ms: now_ms };
        let made = self.database.back_up(&file, false, origin).await?;
        tracing::info!(file = %file.display(), bytes = made.bytes, "a scheduled backup is made");
        let backups = listed(folder.to_owned()).await?;
        let excess = backups.len().saturating_sub(settings.keep);
        for (_, old) in backups.into_iter().take(excess) {
            remove(&old);
        }
        Ok(())
    }

    /// The service `backup` of `/api/status`.
    pub fn service(&self) -> ServiceStatus {
        let settings = self.settings.borrow().clone();
        let state = self.state.lock().clone();
        let interval_s = i64::try_from(settings.interval_s).unwrap_or(i64::MAX);
        let now_s = self.clock.now_s();
        let is_on_time = match state.last_ms {
            Some(last_ms) => now_s - last_ms / 1000 <= interval_s.saturating_mul(2).saturating_add(LATE_S_MAX),
            None => now_s - self.started_s < interval_s.saturating_add(LATE_S_MAX),
        };
        let is_enabled = settings.folder.is_some();
        let late = || (!is_on_time).then(|| "the last backup is too old".to_owned());
        let numbers = Map::from_iter([
            ("lastAt".to_owned(), json!(state.last_ms.map(|last_ms| last_ms / 1000))),
            ("intervalS".to_owned(), json!(settings.interval_s)),
        ]);
        ServiceStatus {
            ok: !is_enabled || (state.error.is_none() && is_on_time),
            enabled: Some(is_enabled),
            detail: if is_enabled { state.error.or_else(late) } else { Some("backup.folder is not set".to_owned()) },
            numbers,
        }
    }
}

/// The backups in the folder, oldest first. The folder is created if it is missing.
async fn listed(folder: PathBuf) -> Result<Vec<(i64, PathBuf)>, ScheduledBackupError> {
    let list = move || {
        let unusable = |source| ScheduledBackupError::Folder { path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(unusable)?;
        let mut backups = Vec::new();
        for entry in fs::read_dir(&folder).map_err(unusable)? {
            let path = entry.map_err(unusable)?.path();
            if let Some(at_ms) = made_at_ms(&path) {
                backups.push((at_ms, path));
            }
        }
        backups.sort();
        Ok(backups)
    };
    tokio::task::spawn_blocking(list)
        .await
        .unwrap_or_else(|error| Err(ScheduledBackupError::Listing(error.to_string())))
}

/// When a backup of this name was made; `None` for any other file.
fn made_at_ms(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    let (time, suffix) = name.split_once('.')?;
    if !matches!(suffix, "db" | "dump") {
        return None;
    }
    let civil = jiff::civil::DateTime::strptime(TIME_FORMAT, time).ok()?;
    Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

fn time_text(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms).unwrap_or_default().strftime(TIME_FORMAT).to_string()
}

fn remove(backup: &Path) {
    for file in [backup.to_owned(), manifest_path(backup)] {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, file = %file.display(), "an old backup cannot be deleted");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_backups() {
        let at_ms = 1_767_225_600_000;
        assert_eq!(time_text(at_ms), "20260101T000000Z");
        for name in ["gateway-20260101T000000Z.db", "gateway-20260101T000000Z.dump"] {
            assert_eq!(made_at_ms(Path::new(name)), Some(at_ms), "{name}");
        }
        for name in [
            "gateway-20260101T000000Z.db.manifest.json",
            "gateway-20260101T000000Z",
            "gateway-now.db",
            "gateway.db",
            "my-gateway-20260101T000000Z.db",
            "gateway-20260101T000000Z.db-wal",
        ] {
            assert_eq!(made_at_ms(Path::new(name)), None, "{name}");
        }
    }
}

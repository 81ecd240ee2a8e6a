//! `[backup]`: backups that the running gateway makes by itself. Rule: off until the operator names a folder.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validator::Validator;

/// Backups on a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupConfig {
    /// Folder for the backups, best on another disk; without it none are made.
    #[schemars(example = "/backups")]
    pub folder: Option<PathBuf>,
    /// Seconds from one backup to the next.
    #[schemars(range(min = 1))]
    pub interval_s: u64,
    /// How many are kept; older ones are deleted.
    #[schemars(range(min = 1))]
    pub keep: usize,
}

impl Default for BackupConfig {
    fn default() -> Self {
        Self { folder: None, interval_s: 86_400, keep: 7 }
    }
}

impl BackupConfig {
    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if let Some(folder) = &self.folder {
            validator.check_creatable_folder("backup.folder", folder);
        }
    }
}

//! Records in the audit table what the command line did without the running gateway.
//!
//! The rule: a command does not fail because it cannot be recorded. A backup is needed most when the database cannot be
//! written.

use gateway::operators::Operators;
use gateway_clock::Clock;
use gateway_storage::{Database, StorageError};
use std::os::unix::fs::MetadataExt as _;

pub(crate) async fn record(database: &Database, action: &str, subject: &str, outcome: &str) {
    if let Err(error) = try_record(&Operators::new(database.clone()), action, subject, outcome).await {
        not_recorded(&error);
    }
}

/// Records nothing in a database that no gateway of this version has opened yet: the table is missing there.
async fn try_record(operators: &Operators, action: &str, subject: &str, outcome: &str) -> Result<(), StorageError> {
    if operators.is_migrated().await? {
        operators.record(&who(), action, subject, outcome, Clock::System.now_ms()).await?;
    }
    Ok(())
}

pub(crate) fn not_recorded(error: &StorageError) {
    eprintln!("gateway: this is not in the audit: {error}");
}

/// The user of the system who typed the command.
pub(crate) fn who() -> String {
    let uid = std::fs::metadata("/proc/self").map(|own| own.uid().to_string());
    format!("command line, uid {}", uid.unwrap_or_else(|_unknown| "unknown".to_owned()))
}

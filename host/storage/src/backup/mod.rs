//! A copy of the whole database as one file, and back.
//!
//! The rules: a backup is complete and checked, or does not exist. A restore ends with the new database or leaves the
//! old one, also when it is killed. It overwrites only on request, and keeps a database that it replaces beside the new
//! one.
//!
//! The file has the format of the database's own tools: a SQLite database, or an archive of `pg_dump`. A command makes
//! the backup in its own process, while the gateway serves: it uses the same locks and reads one snapshot. So writers
//! do not wait, the gateway spends nothing, no path is sent over HTTP, and it works the same when no gateway runs or
//! when it hangs.

mod atomic_file;
mod create;
mod error;
mod manifest;
mod postgres;
mod postgres_programs;
mod restore;
mod restore_request;
mod sqlite;

pub(crate) use create::back_up;
pub use error::BackupError;
pub use manifest::{BackupManifest, BackupOrigin, manifest_path};
pub use restore::restore;
pub use restore_request::{RestoreReport, RestoreRequest};

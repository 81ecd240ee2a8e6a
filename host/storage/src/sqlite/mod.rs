//! SQLite: one connection that writes, a thread that commits on it, threads that read, and fast statements on the
//! calling thread.
//!
//! The rule: no timer of the async runtime is used. The database threads keep the deadlines, so a test that stops the
//! runtime's clock does not change them.

mod checkpoint;
mod connection;
mod engine;
mod error;
mod file_lock;
mod gateway_lock;
mod group_commit;
mod inline_reader;
mod interrupter;
mod migration_error;
mod migrator;
mod reader_pool;
mod statement_executor;
mod transaction;
mod transaction_call;
mod transaction_handle;
mod work_queue;
mod write_scheduler;
mod writer_command;
mod writer_connection;
mod writer_thread;

pub(crate) use connection::open_reader;
pub(crate) use engine::{Opener, SqliteEngine};
pub(crate) use error::storage_error;
pub(crate) use file_lock::{DatabaseFileLock, LockError, give_to_owner_of};
pub(crate) use migrator::applied_migrations;
#[cfg(feature = "simulation")]
pub(crate) use migrator::{apply as apply_migrations, execute_batch};
pub(crate) use transaction::SqliteTransaction;

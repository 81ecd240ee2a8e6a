//! PostgreSQL through a connection pool.
//!
//! The rule: the server enforces the time limits. The client only detects a server that does not respond, with a timer
//! of the async runtime, so tests that stop the runtime's clock use SQLite.

mod bind;
mod cancel;
mod connector;
mod decode;
mod engine;
mod error;
mod execute;
pub(crate) mod gateway_registration;
mod migration_error;
mod migrator;
mod notifications;
mod pipeline;
mod pipeline_step;
mod pooled_connection;
mod query;
mod reachability;
mod read_backoff;
mod read_replica;
mod server_address;
mod session;
mod session_pool;
mod session_settings;
mod shared_sync;
mod tls;
mod tools;
mod transaction;
mod transport;

pub(crate) use engine::PostgresEngine;
pub(crate) use error::storage_error;
pub use notifications::Notifications;
pub(crate) use read_replica::ReadReplica;
pub(crate) use tools::{check, connect, peek_texts};
pub(crate) use transaction::PostgresTransaction;

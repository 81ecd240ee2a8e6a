//! A model of PostgreSQL for simulations: one server in memory, any number of clients, no thread, no file, no clock of its own.
//!
//! A [`crate::Database`] that is opened with [`SimulatedPostgres::url`] runs on it and takes it for PostgreSQL. Statements are rewritten
//! for an SQLite database in memory; one that cannot be rewritten is refused with its text. What every statement does, and its rows, follow
//! from the seed and the order of the calls.
//!
//! The rules that must not break: **a committed transaction has taken effect as if all its statements had run at its commit; every
//! history that the model shows, the real server may show too.** `tests/simulated_postgres` runs random scripts on both.
//!
//! - An open transaction is the list of its statements and their results. They are applied when the transaction runs on, and rolled
//!   back when another one runs.
//! - SERIALIZABLE reads the snapshot of its first statement. At COMMIT its statements run again on the newest state: another result is a
//!   serialisation failure, except of a read that only READ COMMITTED transactions have made old: the server does not compare with those.
//! - READ COMMITTED (the gateway's own transactions and those of a plugin's lock) reads the newest state with each statement. One that
//!   would change the result of another open transaction, or gets another result because of it, waits for its end.
//! - Identities come from sequences that do not roll back: a lower one may become visible after a higher one.
//!
//! What it does not do:
//! - Serialisation failures come at the end of a transaction, sometimes without need, and never where the server would find out earlier
//!   that it waits in vain. A transaction that the server orders before one that committed first is refused.
//! - Locks are of results, not of rows: `SKIP LOCKED` waits where the server would skip, two updates of a row that do not change each
//!   other's result do not wait, `FOR UPDATE` of rows that nobody changes conflicts with nothing.
//! - A statement whose parts write is run part by part: a later part sees what an earlier one wrote.
//! - Types are SQLite's: it converts where PostgreSQL refuses, `CAST` to an integer cuts where it rounds, texts are sorted by bytes.
//! - Foreign keys are not checked; the newest migrations have none on PostgreSQL. Migrations are applied to an empty database.
//! - No read replicas, no backups, no size limits of results, no statement timeouts; `log` of slow statements stays empty.
//! - Search by text of the knowledge base and what undoes a plugin (purge) are refused: they ask PostgreSQL's own functions and catalogue.

mod catalogue;
mod counts;
mod engine;
mod faults;
mod functions;
mod migrate;
mod notifications;
mod open_transaction;
mod random;
mod rewrite;
mod server;
mod state;
mod store;
mod transaction;
mod translate;

pub use counts::SimulationCounts;
pub(crate) use engine::SimulatedEngine;
pub use faults::Faults;
pub(crate) use migrate::migration_text;
pub(crate) use notifications::SimulatedNotifications;
pub use server::SimulatedPostgres;
pub(crate) use transaction::SimulatedTransaction;

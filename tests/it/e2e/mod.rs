//! The real gateway: a process, plugins from shared libraries, and clients that use only its HTTP interface.

mod check;
mod chores;
mod clients;
mod command_line;
mod consent;
mod degraded;
mod devnet;
mod errors;
mod faults;
mod front_page;
mod keys;
mod metrics;
mod new_plugin;
mod open_files;
mod operator_page;
mod operators;
mod plugin_life;
mod plugin_outside;
mod purge;
mod reload;
mod reload_limits;
mod required;
mod sent_requests;
mod signatures;
mod site;
mod start;
mod stopping;
mod stream;
mod stream_reader;
mod test_kit;
mod thread_scenario;
mod uploads;

pub use self::{
    clients::{clients, node, python, run, schemathesis},
    site::{Site, THREADS, answer, in_time, posts_of, signed},
    stream_reader::{Part, StreamReader},
};
use crate::storage::Engine;
use gateway_tests::{postgres, process::Setup};

/// The gateway of this build with a SQLite file.
pub fn setup() -> Setup {
    Setup::new(env!("CARGO_BIN_EXE_gateway-under-test")).unwrap()
}

/// The same on either database.
pub async fn setup_on(engine: Engine) -> Setup {
    match engine {
        Engine::Sqlite => setup(),
        Engine::Postgres => setup().set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

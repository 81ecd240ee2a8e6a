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
mod private_paths;
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
    clients::{ask, clients, node, python, run, schemathesis},
    site::{Site, THREADS, answer, in_time, posts_of, signed},
    stream_reader::{Part, StreamReader},
};
use crate::storage::Engine;
use gateway_tests::{postgres, process::Setup};

/// What most tests need of the plugins.
const PLUGINS: [&str; 4] = ["activity", "forum", "hello", "kb"];

/// The gateway of this build with a SQLite file and a few plugins.
pub fn setup() -> Setup {
    setup_with_all_plugins().with_only(&PLUGINS).unwrap()
}

pub fn setup_with_all_plugins() -> Setup {
    Setup::new(env!("CARGO_BIN_EXE_gateway-under-test")).unwrap()
}

/// The same on either database.
pub async fn setup_on(engine: Engine) -> Setup {
    with_database(setup(), engine).await
}

pub async fn setup_with_all_plugins_on(engine: Engine) -> Setup {
    with_database(setup_with_all_plugins(), engine).await
}

async fn with_database(setup: Setup, engine: Engine) -> Setup {
    match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

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
mod one_gateway;
mod open_files;
mod operator_certificates;
mod operator_commands;
mod operator_login;
mod operator_page;
mod operators;
mod operators_day;
mod plugin_life;
mod plugin_outside;
mod plugin_reports;
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
mod tls;
mod traces;
mod uploads;

pub use self::{
    clients::{ask, check_jsonschema, clients, node, python, run, schemathesis},
    site::{Site, THREADS, answer, in_time, posts_of, signed},
    stream_reader::{Part, StreamReader},
};
use crate::storage::Engine;
use gateway_tests::{devnet::Devnet, postgres, process::Setup};

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

/// A gateway of these plugins on a dev network with all its contracts, not yet started. It sends with the test key `key` as `role`.
pub async fn setup_on_devnet(devnet: &Devnet, engine: Engine, plugins: &[&str], (role, key): (&str, &str)) -> Setup {
    let facts = &devnet.facts;
    // Settings of plugins that are not there would be reported.
    let setup = setup_with_all_plugins().unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    let setup = setup
        .with_only(plugins)
        .unwrap()
        .set("chain_id", facts.chain_id)
        .set("chains.main.rpc", &facts.rpc_url)
        .set("chains.main.chain_id", facts.chain_id)
        .set("chains.main.deploy_block", 1)
        .set("chains.main.poll_ms", 50)
        .set("chains.main.timeout_ms", 2000)
        .set(&format!("signers.{role}.key"), &devnet.key(key).unwrap().private_key)
        .set("tx.resend_ms", 300);
    let contracts = facts.contracts.iter();
    let setup = contracts.fold(setup, |setup, (name, at)| setup.set(&format!("chains.main.contracts.{name}"), at));
    with_database(setup, engine).await
}

async fn with_database(setup: Setup, engine: Engine) -> Setup {
    match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

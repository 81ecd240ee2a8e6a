//! Backup and restore by command: what the file contains, and that no data is lost, however a command ends.

mod copy;
mod killed;
mod manifest;
mod refusals;
mod restored;
mod schedule;
mod tables;

use crate::{crash::small_setup, storage::Engine};
use gateway_tests::{
    postgres,
    process::{CommandOutput, Setup},
};
use std::path::PathBuf;
use tables::Tables;

/// A gateway to be started, with an empty database.
async fn small_setup_on(engine: Engine) -> Setup {
    match engine {
        Engine::Sqlite => small_setup(),
        Engine::Postgres => small_setup().set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

/// Runs a command, also while a gateway runs.
async fn run(setup: &Setup, arguments: &[&str]) -> CommandOutput {
    let (setup, arguments) = (setup.clone(), arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
    let run = move || setup.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await.unwrap().unwrap()
}

/// A backup of the database as it is.
async fn back_up(setup: &Setup, name: &str) -> PathBuf {
    let file = setup.folder().join(name);
    let ended = run(setup, &["backup", file.to_str().unwrap()]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    file
}

async fn restore(setup: &Setup, file: &std::path::Path, flags: &[&str]) -> CommandOutput {
    run(setup, &[&["restore", file.to_str().unwrap()], flags].concat()).await
}

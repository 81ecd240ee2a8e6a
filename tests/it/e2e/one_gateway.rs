//! A SQLite file is for one gateway, and for the commands that run beside it. Two took jobs from each other.

use super::{setup, site::Site};
use gateway_tests::{
    plugins::plugin_file,
    process::{CommandOutput, GatewayProcess, LIMIT, Setup},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use plugin_testing::Wallet;
use rstest::rstest;
use std::{
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

async fn assert_refused(second: &Setup, first: &GatewayProcess) {
    let Err(error) = second.start().await else { panic!("two gateways serve one file") };
    let told = format!("{error:#}");
    let holder = format!("already (process {} on ", first.id());
    assert!(
        told.contains("exit status: 4") && told.contains(&holder) && told.contains("stop that one first"),
        "{told}"
    );
}

#[tokio::test]
async fn a_second_gateway_is_refused() {
    let setup = setup();
    let mut first = setup.start().await.unwrap();
    assert_refused(&setup, &first).await;
    // The same file by another name, with keys and files of its own.
    let link = setup.folder().join("link.db");
    symlink(setup.folder().join("data/gateway.db"), &link).unwrap();
    let other = setup.clone().set("data_dir", setup.folder().join("other").display());
    let other = other.set("database.url", format!("sqlite:{}", link.display()));
    assert_refused(&other, &first).await;
    Site::of(&first).open_thread(&Wallet::new(1), "It serves").await;

    first.terminate(LIMIT).await.unwrap();
    let next = other.start().await.unwrap();
    assert_eq!(Site::of(&next).get("/api/forum/threads").await.json()["total"], 1);
}

/// The process is not waited for: it may still be ending when the next one starts.
#[tokio::test]
async fn the_next_one_starts_right_after_a_kill() {
    let setup = setup();
    let mut killed = setup.start().await.unwrap();
    for _ in 0..3 {
        kill(Pid::from_raw(killed.id().try_into().unwrap()), Signal::SIGKILL).unwrap();
        killed = setup.start().await.unwrap();
    }
}

/// Code, and what is said on either output.
fn assert_ended(finished: &CommandOutput, code: i32, text: &str) {
    let said = finished.stdout.contains(text) || finished.stderr.contains(text);
    assert!(finished.code == Some(code) && said, "expected {code} and {text:?}: {finished:?}");
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[rstest]
#[case::by_its_operators_listener(true)]
#[case::that_takes_no_commands(false)]
#[tokio::test]
async fn commands_run_beside_a_gateway(#[case] is_asked: bool) {
    let setup = setup();
    let listen = if is_asked { "127.0.0.1:0" } else { "off" };
    let gateway = setup.clone().set("admin.listen", listen).start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "Before").await;
    let run = |line: &str| setup.run(&words(line)).unwrap();
    let folder = |name: &str| setup.folder().join(name).display().to_string();
    let backup = folder("backup.db");

    assert_ended(&run(&format!("backup {backup}")), 0, "a checked copy");
    assert!(Path::new(&backup).is_file());
    assert_ended(&run("check"), 0, "have no problems");
    assert_ended(&run("config show"), 0, "http.listen");
    assert_ended(&run("openapi"), 0, "/api/forum/threads");
    assert_ended(&run("version"), 0, "plugin API");
    assert_ended(&run("migrate"), 0, "forum: up to date");
    // Whom the configuration names no gateway, the list says what a start would find in the database.
    assert_ended(&run("plugins list"), 0, "forum");
    let library: PathBuf = plugin_file("forum").unwrap();
    assert_ended(&run(&format!("plugins inspect {}", library.display())), 0, "forum");

    assert_ended(&run(&format!("restore {backup} --force")), 4, "stop it first");
    assert_ended(&run("mark-restored"), 4, "stop it first");
    assert_ended(&run("plugins purge left --yes"), 4, "the database is in use");
    assert_refused(&setup, &gateway).await;

    if is_asked {
        let asked = |line: &str| run(&format!("{line} --admin {}", gateway.admin_url()));
        assert_ended(&asked("status"), 0, "ready      yes");
        assert_ended(&asked("tx list"), 0, "");
        assert_ended(&asked("plugins list"), 0, "forum");
        assert_ended(&asked("plugins report"), 0, "no plugin that serves has a report");
        assert_ended(&asked("plugins disable hello"), 0, "");
        assert_ended(&asked("plugins enable hello"), 0, "");
        assert_ended(&asked("plugins purge left --yes"), 5, "nothing of a plugin");
    }
    Site::of(&gateway).open_thread(&Wallet::new(1), "After").await;
    assert_eq!(Site::of(&gateway).get("/api/forum/threads").await.json()["total"], 2);
}

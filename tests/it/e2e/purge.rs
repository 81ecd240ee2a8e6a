//! `gateway plugins purge`: what a plugin left is dropped when it is gone, and only then.

use super::{
    faults::operator_sees,
    operators::command,
    plugin_life::{link, put, take, with_folder},
    setup_on,
    site::Site,
};
use crate::storage::Engine;
use gateway_tests::{
    plugins::plugin_file,
    process::{LIMIT, Setup},
};
use plugin_testing::{Value, Wallet, json};
use rstest::rstest;

const GUESTS: &str = "/api/hello/guests";
const PLAN: &str = "hello left in the database:\n  \
                      table         hello_guests  1 row\n  \
                      job           prune_guests\n  \
                      1 applied migration\n\
                    What it published stays in the activity log.\n";
const DONE: &str = "hello: dropped 1 table and 0 views\n";

/// A gateway that had hello with one guest, and has it no more.
async fn left_behind(engine: Engine) -> Setup {
    let setup = with_folder(setup_on(engine).await).with_config("[plugins.hello]\nenabled = true\n").unwrap();
    put(&setup, &plugin_file("hello").unwrap(), "");
    link(&setup, "activity");
    let mut gateway = setup.start().await.unwrap();
    let signed = Site::of(&gateway).write(GUESTS, &Wallet::new(1), "hello.sign", json!({ "message": "first" })).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    gateway.terminate(LIMIT).await.unwrap();
    take(&setup, "hello");
    setup
}

/// From scratch: no guest, and the events of before.
async fn assert_purged(setup: &Setup, who: &str) {
    put(setup, &plugin_file("hello").unwrap(), "");
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get(GUESTS).await.json()["total"], 0);
    let hello = operator_sees(&gateway, "/plugins", "hello").await;
    assert_eq!((&hello["state"], &hello["migrations_applied"]), (&json!("serving"), &json!(1)), "{hello}");
    let activity = site.get("/api/activity").await.text();
    assert_eq!(activity.matches("\"hello.sign\"").count(), 1, "the activity log stays: {activity}");
    let audit = Site::at(gateway.admin_url()).get("/audit").await.json();
    let is_purge = |row: &&Value| row["action"] == "purge";
    let row = audit.as_array().unwrap().iter().find(is_purge).unwrap();
    assert_eq!((&row["subject"], &row["outcome"]), (&json!("hello"), &json!("dropped tables hello_guests (1 row)")));
    assert!(row["who"].as_str().unwrap().starts_with(who), "{row}");
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_running_gateway_drops_what_a_plugin_left(#[case] engine: Engine) {
    let setup = left_behind(engine).await;
    let mut gateway = setup.start().await.unwrap();
    let unasked = command(&gateway, &["purge", "hello"]).await;
    assert_eq!((unasked.code, unasked.stdout.as_str()), (Some(2), PLAN), "{}", unasked.stderr);
    assert!(unasked.stderr.contains("nothing was dropped: say --yes"), "{}", unasked.stderr);
    assert_eq!(operator_sees(&gateway, "/plugins", "hello").await["tables"], json!(["hello_guests"]));

    // A file that is there again is not gone, although nobody has loaded it.
    put(&setup, &plugin_file("hello").unwrap(), "");
    let present = command(&gateway, &["purge", "hello", "--yes"]).await;
    assert!(present.stderr.contains("hello is not gone: its file is in the folder of the plugins"), "{present:?}");
    assert_eq!(present.code, Some(5));
    take(&setup, "hello");

    let purged = command(&gateway, &["purge", "hello", "--yes"]).await;
    assert_eq!((purged.code, purged.stdout.as_str()), (Some(0), DONE), "{}", purged.stderr);
    assert_eq!(operator_sees(&gateway, "/plugins", "hello").await, Value::Null);
    let again = command(&gateway, &["purge", "hello", "--yes"]).await;
    assert_eq!(again.code, Some(5), "{again:?}");
    assert!(again.stderr.contains("nothing of a plugin \"hello\" is in the database"), "{}", again.stderr);
    let serving = command(&gateway, &["purge", "activity", "--yes"]).await;
    assert_eq!((serving.code, serving.stdout.as_str()), (Some(5), ""), "{serving:?}");
    for name in ["host", "pg", "sqlite"] {
        assert_eq!(command(&gateway, &["purge", name, "--yes"]).await.code, Some(5), "{name}");
    }
    gateway.terminate(LIMIT).await.unwrap();
    assert_purged(&setup, "127.0.0.1:").await;
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn without_a_gateway_the_command_does_it_alone(#[case] engine: Engine) {
    let setup = left_behind(engine).await;
    // A gateway that takes no commands may have it.
    let mut silent = setup.clone().set("admin.listen", "off").start().await.unwrap();
    let refused = setup.run(&["plugins", "purge", "hello", "--yes"]).unwrap();
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("the database is in use"), "{}", refused.stderr);
    silent.terminate(LIMIT).await.unwrap();

    let unasked = setup.run(&["plugins", "purge", "hello"]).unwrap();
    assert_eq!((unasked.code, unasked.stdout.as_str()), (Some(2), PLAN), "{}", unasked.stderr);
    let present = setup.run(&["plugins", "purge", "activity", "--yes"]).unwrap();
    assert!(present.code == Some(5) && present.stderr.contains("its file is in the folder"), "{present:?}");
    let purged = setup.run(&["plugins", "purge", "hello", "--yes"]).unwrap();
    assert_eq!((purged.code, purged.stdout.as_str()), (Some(0), DONE), "{}", purged.stderr);
    assert_purged(&setup, "command line, uid ").await;
}

//! `gateway check` finds what `gateway run` would, and changes nothing.

use super::{operators, setup, setup_on};
use crate::storage::Engine;
use gateway_tests::{
    fixtures,
    plugins::plugin_file,
    process::{LIMIT, Setup},
};
use plugin_testing::Value;
use rstest::rstest;
use std::{fs, os::unix::fs::PermissionsExt as _};

type Pairs = Vec<(String, String)>;

/// The problems as (key, message), and the plugins that are refused as (name, reason).
fn check(setup: &Setup) -> (Pairs, Pairs) {
    let checked = setup.run(&["check", "--json"]).unwrap();
    let report = checked.json().unwrap();
    let pairs = |list: &Value, (name, text): (&str, &str)| -> Vec<(String, String)> {
        let pair = |item: &Value| (item[name].as_str().unwrap().to_owned(), item[text].as_str().unwrap().to_owned());
        list.as_array().unwrap().iter().map(pair).collect()
    };
    let (problems, refused) =
        (pairs(&report["problems"], ("key", "message")), pairs(&report["refused"], ("name", "reason")));
    let code = match (problems.is_empty(), refused.is_empty()) {
        (false, _) => 3,
        (true, false) => 5,
        (true, true) => 0,
    };
    assert_eq!(checked.code, Some(code), "{checked:?}");
    (problems, refused)
}

fn one_problem(setup: &Setup, key: &str, part: &str) {
    let (problems, refused) = check(setup);
    assert_eq!((problems.len(), refused.len()), (1, 0), "{problems:?} {refused:?}");
    assert!(problems[0].0 == key && problems[0].1.contains(part), "{problems:?}");
}

/// The schema allows the number; only the plugin itself knows that it is wrong.
#[test]
fn settings_that_only_the_plugin_can_judge() {
    one_problem(&setup().set("plugins.hello.keep_days", 0), "plugins.hello", "keep_days is 0");
}

#[test]
fn keys_keystores_and_their_permissions() {
    let setup = setup();
    let file = |name: &str, text: &str, mode: u32| {
        let path = setup.folder().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let (keystore, readable) = (file("relayer.json", "{}", 0o600), file("readable", "secret", 0o644));
    let private = file("private", "secret", 0o600);
    let relayer = |password: &str| {
        setup.clone().set("signers.relayer.keystore", &keystore).set("signers.relayer.password_file", password)
    };
    one_problem(&relayer(&readable), "signers.relayer", "chmod 600");
    one_problem(&relayer(&private), "signers.relayer", "no Web3 keystore");
    one_problem(&setup.clone().set("signers.oracle.key", "0x12"), "signers.oracle", "64 hexadecimal digits");

    let data_dir = setup.folder().join("data");
    fs::create_dir_all(&data_dir).unwrap();
    file("data/gateway.key", &"1".repeat(64), 0o644);
    one_problem(&setup, "signers.gateway", "chmod 600");
}

#[rstest]
#[tokio::test]
async fn a_database_that_is_not_there(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    assert_eq!(check(&setup), (vec![], vec![]));
    let (missing, part) = match engine {
        Engine::Sqlite => ("sqlite:/no/such/folder/at/all/gateway.db".to_owned(), "no folder /no/such/folder"),
        Engine::Postgres => ("postgres://nobody@127.0.0.1:1/nothing".to_owned(), "no connection to the server"),
    };
    one_problem(&setup.set("database.url", missing), "database.url", part);
}

/// A plugin that clashes with another one is only found when both are mounted.
#[test]
fn what_a_plugin_does_when_it_is_constructed() {
    let setup = setup();
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    let file = fixtures::hostile().unwrap();
    fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    let setup = setup.with_plugins_of(&folder).set("plugins.hostile.grants", "egress");
    assert_eq!(check(&setup), (vec![], vec![]));
    let (problems, refused) = check(&setup.set("plugins.hostile.constructor", "panic"));
    assert_eq!(problems, []);
    assert!(refused[0].0 == "hostile" && refused[0].1.contains("the constructor failed"), "{refused:?}");
}

/// Routes, an operation, an event type, a view, a plugin that is not there, a consent, and tables of others: at once.
#[rstest]
#[tokio::test]
async fn everything_that_is_wrong_with_a_plugin(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    for plugin in ["hello", "forum"] {
        // Links: a copy would not be one that came with this gateway.
        let file = plugin_file(plugin).unwrap();
        std::os::unix::fs::symlink(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let grabs = tokio::task::spawn_blocking(fixtures::grabs).await.unwrap().unwrap();
    fs::copy(&grabs, folder.join(grabs.file_name().unwrap())).unwrap();
    let setup = setup.with_plugins_of(&folder).set("plugins.hello.enabled", true);
    let (problems, refused) = check(&setup);
    let consent = "it asks for event:post.create and did not come with this gateway";
    assert!(problems.len() == 1 && problems[0].0 == "plugins.grabs.grants" && problems[0].1.starts_with(consent));
    let checked = setup.run(&["check"]).unwrap();
    let said: Vec<&str> = checked.stdout.lines().filter_map(|line| line.strip_prefix("grabs: ")).collect();
    let expected = [
        "GET /api/status is already one of host",
        "GET /api/forum/threads is already one of forum",
        "GET /api/forum/threads/new, which overlaps /api/forum/threads/{id}, is already one of forum",
        "the event type post.create is already one of forum",
        "the view forum_threads_v1 is named like one of forum",
        "GET /api/hello/{anybody} is already one of hello",
        "the operation get_greeting is already one of hello",
        "it requires nobody, which does not serve: enable it first",
    ];
    assert_eq!(said[..expected.len()], expected, "{}", checked.stdout);
    let [create, more] = said[expected.len()..] else { panic!("{said:?}") };
    assert!(create.starts_with("grabs migration 1 (create): ") && create.contains("hello_guests"), "{create}");
    assert!(more.starts_with("grabs migration 2 (more): ") && more.contains("forum_threads"), "{more}");
    assert_eq!(refused, [("grabs".to_owned(), said.join("; "))]);
}

/// An operator's decision outranks the configuration for a check as for a start.
#[rstest]
#[tokio::test]
async fn what_an_operator_switched_on_or_off(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    let (off, on) = (setup.clone().set("plugins.hello.enabled", false), setup.set("plugins.hello.enabled", true));
    let wrong = |setup: &Setup| setup.clone().set("plugins.hello.keep_days", 0);
    let unknown = |setup: &Setup| setup.clone().set("plugins.hello.unheard_of", 1);
    assert_eq!(check(&wrong(&off)), (vec![], vec![]), "it is off");
    let mut gateway = off.start().await.unwrap();
    let decide = async |action: &str| operators::command(&gateway, &[action, "hello"]).await.code;
    assert_eq!(decide("enable").await, Some(0));
    assert_eq!(check(&off), (vec![], vec![]));
    one_problem(&wrong(&off), "plugins.hello", "keep_days is 0");
    one_problem(&unknown(&off), "plugins.hello.unheard_of", "no such key");
    assert_eq!(decide("disable").await, Some(0));
    assert_eq!(check(&wrong(&on)), (vec![], vec![]), "it would not start");
    assert_eq!(check(&unknown(&on)), (vec![], vec![]));
    gateway.terminate(LIMIT).await.unwrap();
}

#[test]
fn nothing_is_left_behind() {
    let setup = setup();
    assert_eq!(check(&setup), (vec![], vec![]));
    // The libraries are loaded from copies there.
    for name in ["gateway.db", "gateway.key"] {
        assert!(!setup.folder().join("data").join(name).exists(), "{name}");
    }
}

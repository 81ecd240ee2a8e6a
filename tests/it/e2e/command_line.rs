//! The commands besides `run`: what they print, and the exit codes that scripts use.

use super::{setup, setup_on, site::Site};
use crate::storage::Engine;
use gateway_tests::{fixtures, plugins::plugin_file, process::CommandOutput};
use plugin_api::abi::{ABI_MAJOR, ABI_MINOR};
use plugin_testing::{Value, json};
use rstest::rstest;
use sha2::{Digest as _, Sha256};
use std::{fs, net::TcpListener};

const OK: Option<i32> = Some(0);
const USAGE: Option<i32> = Some(2);
const CONFIG: Option<i32> = Some(3);
const DATABASE: Option<i32> = Some(4);
const PLUGIN: Option<i32> = Some(5);
const LISTEN: Option<i32> = Some(6);

/// A line for people: one, and not too long.
fn assert_line(text: &str, part: &str) {
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.len() < 500 && text.contains(part), "expected {part:?} in: {text}");
}

const MANY_PROBLEMS: &str = r#"
[http]
lissen = "127.0.0.1:1"

[limits]
per_ip_per_minute = "many"

[plugins.hello]
greting = "s3cret"
keep_days = "s3cret too"

[plugins.nosuch]
enabled = true
"#;

/// Key and source of each problem of [`MANY_PROBLEMS`], and of one more in the environment.
const EXPECTED: [(&str, &str); 6] = [
    ("http.lissen", "gateway.toml"),
    ("limits.per_ip_per_minute", "gateway.toml"),
    ("log.level", "environment variable GATEWAY_LOG__LEVEL"),
    ("plugins.hello.greting", "gateway.toml"),
    ("plugins.hello.keep_days", "gateway.toml"),
    ("plugins.nosuch", "gateway.toml"),
];

#[test]
fn check_tells_all_problems_at_once() {
    let setup = setup().with_config(MANY_PROBLEMS).unwrap().set("log.level", "loud");
    let report = setup.run(&["check", "--json"]).unwrap();
    assert_eq!(report.code, CONFIG, "{report:?}");
    let report = report.json().unwrap();
    assert_eq!(report["ok"], false);
    let problems = report["problems"].as_array().unwrap();
    let keys: Vec<&str> = problems.iter().map(|problem| problem["key"].as_str().unwrap()).collect();
    assert_eq!(keys, EXPECTED.map(|(key, _)| key), "{report}");
    for (problem, (key, source)) in problems.iter().zip(EXPECTED) {
        assert!(problem["source"].as_str().unwrap().ends_with(source), "{key}: {problem}");
        assert!(!problem["message"].as_str().unwrap().is_empty() && !problem["hint"].as_str().unwrap().is_empty());
    }

    let told = setup.run(&["check"]).unwrap();
    assert_eq!(told.code, CONFIG);
    for (key, source) in EXPECTED {
        let line = told.stdout.lines().find(|line| line.trim_start().starts_with(&format!("{key} ("))).unwrap();
        assert!(line.contains(&format!("{source})")), "{line}");
    }
    assert!(told.stdout.contains("did you mean"), "{}", told.stdout);
    assert!(!told.stdout.contains("s3cret"), "a plugin's own values may be secrets: {}", told.stdout);
}

#[test]
fn check_is_content_with_the_documented_configuration() {
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/gateway.toml");
    let checked = setup().run(&["check", "--config", reference]).unwrap();
    assert_eq!(checked.code, OK, "{checked:?}");
    assert_line(&checked.stdout, "no problems");
}

#[test]
fn a_wrong_configuration_does_not_run() {
    let setup = setup().with_config("[http]\nlissen = \"127.0.0.1:1\"\n").unwrap();
    for command in ["run", "migrate", "openapi"] {
        let ended = setup.run(&[command]).unwrap();
        assert_eq!((ended.code, ended.stdout.as_str()), (CONFIG, ""), "{command}: {ended:?}");
        assert!(ended.stderr.contains("http.lissen") && ended.stderr.contains("gateway.toml"), "{}", ended.stderr);
    }
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let unreachable = format!("sqlite:{}", folder.path().join("no/such/folder/gateway.db").display());
    let cases: [(&[&str], Option<i32>, &str); 6] = [
        (&["run", "--listen", &address], LISTEN, &address),
        (&["run", "--admin-listen", &address], LISTEN, &address),
        (&["run", "--database-url", &unreachable], DATABASE, "database"),
        (&["migrate", "--database-url", &unreachable], DATABASE, "database"),
        (&["frobnicate"], USAGE, "frobnicate"),
        (&["plugins"], USAGE, "list"),
    ];
    for (arguments, code, named) in cases {
        let ended = setup().run(arguments).unwrap();
        assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(named), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn plugins_are_listed() {
    let setup = setup().set("plugins.forum.enabled", false);
    let listed = setup.run(&["plugins", "list", "--json"]).unwrap();
    assert_eq!(listed.code, OK, "{listed:?}");
    let plugins = listed.json().unwrap();
    let plugin = |name: &str| plugins.as_array().unwrap().iter().find(|plugin| plugin["name"] == name).unwrap().clone();
    for name in ["activity", "hello"] {
        assert_eq!(plugin(name)["state"], "stopped", "{name}");
        assert_eq!(plugin(name)["sha256"], sha256_of(name));
    }
    assert_eq!(plugin("forum")["state"], "disabled");
    let table = setup.run(&["plugins", "list"]).unwrap().stdout;
    assert!(table.starts_with("PLUGIN") && table.lines().count() == plugins.as_array().unwrap().len() + 1, "{table}");
}

fn sha256_of(plugin: &str) -> String {
    hex::encode(Sha256::digest(fs::read(plugin_file(plugin).unwrap()).unwrap()))
}

#[test]
fn a_library_is_inspected() {
    let file = plugin_file("hello").unwrap();
    let inspected = setup().run(&["plugins", "inspect", file.to_str().unwrap(), "--json"]).unwrap();
    assert_eq!(inspected.code, OK, "{inspected:?}");
    let mut facts = inspected.json().unwrap();
    let api = format!("{ABI_MAJOR}.{ABI_MINOR}");
    assert_eq!((&facts["name"], &facts["pluginApi"]), (&json!("hello"), &json!(api)), "{facts}");
    assert_eq!(facts["sha256"], sha256_of("hello"));
    let endpoints = json!(["GET /api/hello/{name}", "GET /api/hello/guests", "POST /api/hello/guests"]);
    assert_eq!((&facts["endpoints"], &facts["grants"]), (&endpoints, &json!([])), "{facts}");
    assert_eq!((&facts["actions"], &facts["events"]), (&json!(["hello.sign"]), &json!(["hello.sign"])), "{facts}");

    let told = setup().run(&["plugins", "inspect", file.to_str().unwrap()]).unwrap().stdout;
    let offers = "grants      none\n\
                  routes      GET /api/hello/{name}\n\
                  \x20           GET /api/hello/guests\n\
                  \x20           POST /api/hello/guests\n\
                  actions     hello.sign\n\
                  events      hello.sign\n";
    assert!(told.starts_with("name        hello\n") && told.ends_with(offers), "{told}");

    let unloaded = setup().run(&["plugins", "inspect", file.to_str().unwrap(), "--no-load", "--json"]).unwrap();
    let offered = ["endpoints", "grants", "actions", "events"];
    offered.iter().for_each(|member| drop(facts.as_object_mut().unwrap().remove(*member)));
    assert_eq!(unloaded.json().unwrap(), facts);
}

/// A file may look right from outside: only its layout says that it does not fit.
#[test]
fn a_library_that_would_not_load_is_refused_by_inspect() {
    let file = fixtures::other_layout().unwrap();
    let refused = setup().run(&["plugins", "inspect", file.to_str().unwrap()]).unwrap();
    assert_eq!((refused.code, refused.stdout.as_str()), (PLUGIN, ""), "{refused:?}");
    assert_line(&refused.stderr, "does not fit this gateway's plugin API");
}

#[test]
fn one_plugin_is_listed_in_full() {
    let setup = setup();
    let told = setup.run(&["plugins", "list", "hello"]).unwrap();
    assert_eq!(told.code, OK, "{told:?}");
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(lines[0], "name        hello");
    for line in [
        "state       stopped: enabled; serves when the gateway runs",
        "grants      none",
        "routes      GET /api/hello/{name}",
        "            POST /api/hello/guests",
        "actions     hello.sign",
        "events      hello.sign",
    ] {
        assert!(lines.contains(&line), "{line} is missing in\n{}", told.stdout);
    }
    let note = "gateway: admin.listen has port 0, so no gateway is asked without --admin http://IP:PORT: this is what a start would find";
    assert_eq!(told.stderr.lines().next(), Some(note), "{}", told.stderr);
    let unknown = setup.run(&["plugins", "list", "nosuch"]).unwrap();
    assert_eq!((unknown.code, unknown.stdout.as_str()), (PLUGIN, ""));
    assert!(unknown.stderr.contains("there is no plugin \"nosuch\""), "{}", unknown.stderr);
}

#[test]
fn what_is_no_library_is_refused_in_a_line() {
    let setup = setup();
    let file = setup.folder().join("libletter.so");
    fs::write(&file, "Dear gateway, I am a plugin. Honestly.").unwrap();
    let refused = setup.run(&["plugins", "inspect", file.to_str().unwrap()]).unwrap();
    assert_eq!((refused.code, refused.stdout.as_str()), (PLUGIN, ""));
    assert_line(&refused.stderr, "libletter.so");
}

fn applied(migrated: &CommandOutput) -> Vec<(String, i64)> {
    assert_eq!(migrated.code, OK, "{migrated:?}");
    let lines = migrated.json().unwrap();
    let line = |line: &Value| (line["plugin"].as_str().unwrap().to_owned(), line["applied"].as_i64().unwrap());
    lines.as_array().unwrap().iter().map(line).collect()
}

#[rstest]
#[tokio::test]
async fn the_second_migration_finds_nothing_to_do(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    let first = applied(&setup.run(&["migrate", "--json"]).unwrap());
    for name in ["host", "activity", "forum", "hello"] {
        assert!(first.iter().any(|(plugin, applied)| plugin == name && *applied > 0), "{name}: {first:?}");
    }
    let second = applied(&setup.run(&["migrate", "--json"]).unwrap());
    assert!(second.len() == first.len() && second.iter().all(|(_, applied)| *applied == 0), "{second:?}");
    // The gateway starts on the migrated database.
    let gateway = setup.start().await.unwrap();
    assert_eq!(Site::of(&gateway).get("/api/forum/threads").await.json()["total"], 0);
}

#[tokio::test]
async fn the_printed_interface_is_the_served_one() {
    let setup = setup();
    let mut printed = setup.run(&["openapi"]).unwrap().json().unwrap();
    let gateway = setup.start().await.unwrap();
    let mut served = Site::of(&gateway).get("/api/openapi.json").await.json();
    assert!(printed["paths"].as_object().unwrap().contains_key("/api/forum/threads"));
    for part in ["paths", "components", "tags", "x-service-signing"] {
        assert!(!printed[part].is_null(), "{part}");
        assert_eq!(printed[part].take(), served[part].take(), "{part}");
    }
}

#[test]
fn versions_are_told() {
    let version = setup().run(&["version", "--json"]).unwrap();
    assert_eq!(version.code, OK);
    let expected = json!({ "gateway": env!("CARGO_PKG_VERSION"), "pluginApi": format!("{ABI_MAJOR}.{ABI_MINOR}") });
    assert_eq!(version.json().unwrap(), expected);
    let told = setup().run(&["version"]).unwrap().stdout;
    assert!(told.starts_with(&format!("gateway {}\n", env!("CARGO_PKG_VERSION"))), "{told}");
}

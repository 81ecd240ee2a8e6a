//! Libraries that are put into the folder, replaced and taken away while the gateway runs.

use super::{faults::operator_sees, operators::command, setup, setup_on, site::Site};
use crate::storage::Engine;
use gateway_tests::{
    fixtures,
    plugins::plugin_file,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use rstest::rstest;
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
};

const GREETING: &str = "/api/hello/world";
const GUESTS: &str = "/api/hello/guests";

fn folder(setup: &Setup) -> PathBuf {
    setup.folder().join("plugins")
}

/// A gateway with an empty folder for plugins and a configuration file.
pub(super) fn with_folder(setup: Setup) -> Setup {
    fs::create_dir(folder(&setup)).unwrap();
    let path = folder(&setup);
    setup.with_plugins_of(&path).with_config("").unwrap()
}

/// Puts a library into the folder in one step; `appended` makes another build of it: bytes after its end mean nothing.
pub(super) fn put(setup: &Setup, library: &Path, appended: &str) -> String {
    let content = [&fs::read(library).unwrap(), appended.as_bytes()].concat();
    let draft = setup.folder().join("draft");
    fs::write(&draft, &content).unwrap();
    fs::rename(draft, folder(setup).join(library.file_name().unwrap())).unwrap();
    hex::encode(Sha256::digest(content))
}

/// Links to a library of this build: a copy of one with names of others would have to be granted them.
pub(super) fn link(setup: &Setup, plugin: &str) {
    let library = plugin_file(plugin).unwrap();
    std::os::unix::fs::symlink(&library, folder(setup).join(library.file_name().unwrap())).unwrap();
}

pub(super) fn take(setup: &Setup, plugin: &str) {
    fs::remove_file(folder(setup).join(format!("lib{plugin}.so"))).unwrap();
}

fn hello() -> PathBuf {
    plugin_file("hello").unwrap()
}

/// Reads the configuration and the folder again, and waits until that is done.
async fn sighup(gateway: &GatewayProcess) {
    let reloads = || gateway.setup().log().matches("the configuration is read again").count();
    let before = reloads();
    gateway.sighup().unwrap();
    TestGateway::eventually(LIMIT, "the configuration is read again", async || reloads() > before).await;
    // The reports are logged after it, the audit comes last.
    let audits = async || {
        let audit = Site::at(gateway.admin_url()).get("/audit").await.json();
        audit.as_array().unwrap().iter().filter(|row| row["action"] == "reload").count() > before
    };
    TestGateway::eventually(LIMIT, "the reload is in the audit", audits).await;
}

async fn report(gateway: &GatewayProcess) -> Value {
    operator_sees(gateway, "/plugins", "hello").await
}

fn said(report: &Value) -> (&str, &str) {
    (report["state"].as_str().unwrap_or_default(), report["reason"].as_str().unwrap_or_default())
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_library_that_is_put_into_the_folder_is_found_without_a_restart(#[case] engine: Engine) {
    let misbehaves = tokio::task::spawn_blocking(fixtures::misbehaves).await.unwrap().unwrap();
    let gateway = with_folder(setup_on(engine).await).start().await.unwrap();
    let (site, setup) = (Site::of(&gateway), gateway.setup().clone());
    let unknown = command(&gateway, &["enable", "hello"]).await;
    assert_eq!(unknown.code, Some(5), "{unknown:?}");
    assert!(unknown.stderr.contains("there is no plugin \"hello\" in the folder"), "{}", unknown.stderr);

    put(&setup, &hello(), "");
    let enabled = command(&gateway, &["enable", "hello"]).await;
    let told = "hello: serving (switched on by an operator)\n";
    assert_eq!((enabled.code, enabled.stdout.as_str()), (Some(0), told), "{}", enabled.stderr);
    assert_eq!(site.get(GREETING).await.status, 200);
    let signed = site.write(GUESTS, &Wallet::new(1), "hello.sign", json!({ "message": "first" })).await;
    assert_eq!(signed.status, 201, "its tables are there: {}", signed.text());

    put(&setup, &misbehaves, "");
    assert_eq!(site.get("/api/misbehaves/notes").await.status, 404, "nobody looked yet");
    sighup(&gateway).await;
    assert_eq!(site.get("/api/misbehaves/notes").await.json(), json!(0));
    assert_eq!(site.get(GREETING).await.status, 200);

    // Nothing has changed: nothing is read, started or stopped.
    let events = ["found in the folder", "draining", "\"state\":\"starting\""];
    let counts = || events.map(|event| setup.log().matches(event).count());
    let before = counts();
    assert_eq!(before[0], 2);
    sighup(&gateway).await;
    assert_eq!(counts(), before);
    assert_eq!(site.get(GUESTS).await.json()["total"], 1);
}

/// A library that comes later passes what one at the start passes.
#[tokio::test]
async fn a_library_that_comes_later_is_checked_like_one_at_the_start() {
    let setup = with_folder(setup());
    let gateway = setup.start().await.unwrap();
    fs::write(folder(&setup).join("libletter.so"), "Dear gateway").unwrap();
    fs::copy(fixtures::no_stamp().unwrap(), folder(&setup).join("libno_stamp.so")).unwrap();
    put(&setup, &plugin_file("tools").unwrap(), "");
    put(&setup, &hello(), "");
    setup.write_config(&format!("[plugins.hello]\nenabled = true\nsha256 = \"{}\"\n", "0".repeat(64))).unwrap();
    sighup(&gateway).await;
    let letter = operator_sees(&gateway, "/plugins", "letter").await;
    assert!(said(&letter).0 == "refused" && said(&letter).1.contains("is a text file"), "{letter}");
    let unstamped = operator_sees(&gateway, "/plugins", "no_stamp").await;
    assert!(
        said(&unstamped).0 == "refused" && said(&unstamped).1.contains("is a library but no plugin"),
        "{unstamped}"
    );
    let listed = command(&gateway, &["list", "no_stamp"]).await;
    assert!(listed.stdout.contains("refused: ") && listed.stdout.contains("is a library but no plugin"), "{listed:?}");
    let tools = operator_sees(&gateway, "/plugins", "tools").await;
    assert!(said(&tools).0 == "failed" && said(&tools).1.starts_with("it asks for egress"), "{tools}");
    let pinned = report(&gateway).await;
    assert!(said(&pinned).0 == "refused" && said(&pinned).1.contains("expected the pinned"), "{pinned}");

    // What was refused is read again, whatever was corrected.
    setup.write_config("[plugins.hello]\nenabled = true\n").unwrap();
    sighup(&gateway).await;
    assert_eq!(said(&report(&gateway).await), ("serving", ""));
}

#[tokio::test]
async fn a_library_that_was_replaced_needs_a_restart() {
    let setup =
        with_folder(setup()).with_config("[plugins]\nrequired = [\"hello\"]\n[plugins.hello]\nenabled = true\n");
    let setup = setup.unwrap();
    let running = put(&setup, &hello(), "");
    let mut gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let file = put(&setup, &hello(), "another build");
    let line = format!(
        "the gateway serves the build {running:.12}, the file is another one, {file:.12}: restart the gateway to run that"
    );
    sighup(&gateway).await;
    let replaced = report(&gateway).await;
    assert_eq!(said(&replaced), ("needs_restart", line.as_str()));
    assert_eq!((&replaced["sha256"], &replaced["file_sha256"]), (&json!(running), &json!(file)), "{replaced}");
    assert_eq!(site.get(GREETING).await.status, 200, "the old build serves");
    assert_eq!(Site::at(gateway.admin_url()).get("/ready").await.status, 200);
    assert_eq!(site.get("/api/status").await.json()["services"]["plugins"]["ok"], true);

    let listed = command(&gateway, &["list"]).await;
    assert!(listed.code == Some(0) && listed.stdout.contains("needs_restart"), "{listed:?}");
    assert!(listed.stderr.contains(&format!("what the gateway at {} says", gateway.admin_url())), "{}", listed.stderr);
    let enabled = command(&gateway, &["enable", "hello"]).await;
    assert_eq!(
        (enabled.code, enabled.stdout),
        (Some(5), format!("hello: needs_restart ({line}; switched on by an operator)\n"))
    );

    // Switched off and on again it would be the old build: it is not started.
    assert_eq!(command(&gateway, &["disable", "hello"]).await.code, Some(0));
    let off = command(&gateway, &["enable", "hello"]).await;
    assert_eq!(off.stdout, format!("hello: needs_restart ({})\n", line.replace("serves", "has loaded")));
    assert_eq!(site.get(GREETING).await.status, 404);
    // The old file back in its place is started again.
    assert_eq!(put(&setup, &hello(), ""), running);
    assert_eq!(command(&gateway, &["enable", "hello"]).await.code, Some(0));
    assert_eq!(site.get(GREETING).await.status, 200);

    assert_eq!(put(&setup, &hello(), "another build"), file);
    gateway.terminate(LIMIT).await.unwrap();
    let gateway = setup.start().await.unwrap();
    let restarted = report(&gateway).await;
    assert_eq!((&restarted["sha256"], &restarted["state"]), (&json!(file), &json!("serving")), "{restarted}");
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_library_that_was_removed_is_told_with_its_tables(#[case] engine: Engine) {
    let setup = with_folder(setup_on(engine).await).with_config("[plugins.hello]\nenabled = true\n").unwrap();
    put(&setup, &hello(), "");
    let mut gateway = setup.start().await.unwrap();
    take(&setup, "hello");
    sighup(&gateway).await;
    let line = "its file is gone: it serves until the gateway restarts; its table is hello_guests";
    let removed = report(&gateway).await;
    assert_eq!((said(&removed), &removed["tables"]), (("serving", line), &json!(["hello_guests"])));
    assert_eq!(Site::of(&gateway).get(GREETING).await.status, 200);
    let purge = command(&gateway, &["purge", "hello", "--yes"]).await;
    assert_eq!(purge.code, Some(5), "{purge:?}");
    let refusal = "hello is not gone: the gateway serves it. Remove its file and restart the gateway first";
    assert!(purge.stderr.contains(refusal), "{}", purge.stderr);

    gateway.terminate(LIMIT).await.unwrap();
    let gone =
        "its file is not in the folder; its table is hello_guests; `gateway plugins purge hello` drops what is left";
    let offline = setup.run(&["plugins", "list", "--json"]).unwrap();
    assert_eq!(said(&offline.json().unwrap()[0]), ("gone", gone), "{offline:?}");
    assert_eq!(offline.code, Some(0));
    // A plugin that is gone keeps no strict gateway from its start.
    let gateway = setup.clone().set("plugins.strict", true).start().await.unwrap();
    let left = report(&gateway).await;
    assert_eq!((said(&left), &left["migrations_applied"]), (("gone", gone), &json!(1)));
    assert_eq!(Site::of(&gateway).get(GREETING).await.status, 404);
    let enabled = command(&gateway, &["enable", "hello"]).await;
    assert_eq!((enabled.code, enabled.stdout), (Some(5), format!("hello: gone ({gone})\n")));
    // It comes back with its tables.
    put(&setup, &hello(), "");
    sighup(&gateway).await;
    assert_eq!(said(&report(&gateway).await), ("serving", ""));
}

/// It is for authors: visitors see it only where the operator wants that.
#[tokio::test]
async fn the_tutorial_is_off_until_somebody_enables_it() {
    for (setup, status) in [(setup(), 200), (setup().unset("plugins.hello.enabled"), 404)] {
        let gateway = setup.start().await.unwrap();
        assert_eq!(Site::of(&gateway).get(GREETING).await.status, status);
    }
}

//! Libraries and constructors that hang: they delay only themselves.

use super::process::prepared;
use crate::e2e::{Site, answer};
use crate::storage::Engine;
use gateway_tests::{
    fixtures,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use reqwest::Method;
use rstest::rstest;
use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Far below the time limits of a library (10 s) and of a constructor as it is set here.
const SOON: Duration = Duration::from_secs(8);
const CONSTRUCTOR_MS: u64 = 12_000;

async fn report_of(gateway: &GatewayProcess, plugin: &str) -> Value {
    let reports = Site::at(gateway.admin_url()).get("/plugins").await.json();
    reports.as_array().unwrap().iter().find(|report| report["name"] == plugin).unwrap().clone()
}

async fn eventually_in(gateway: &GatewayProcess, plugin: &str, state: &str) -> Value {
    let is_in = async || report_of(gateway, plugin).await["state"] == state;
    TestGateway::eventually(LIMIT, &format!("{plugin} is {state}"), is_in).await;
    report_of(gateway, plugin).await
}

/// The others serve long before the time limit is over, reads and writes.
async fn assert_others_serve(gateway: &GatewayProcess, begun: Instant) {
    let site = Site::of(gateway);
    assert_eq!(site.get("/api/hello/world").await.status, 200);
    let signed = site.write("/api/hello/guests", &Wallet::new(1), "hello.sign", json!({ "message": "here" })).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    assert!(begun.elapsed() < SOON, "the others waited for {:?}", begun.elapsed());
}

/// The folder with one more plugin.
async fn with_fixture(build: fn() -> anyhow::Result<PathBuf>) -> Setup {
    let file = tokio::task::spawn_blocking(build).await.unwrap().unwrap();
    let setup = prepared().await;
    fs::copy(&file, setup.folder().join("plugins").join(file.file_name().unwrap())).unwrap();
    setup
}

#[tokio::test]
async fn a_constructor_that_hangs_delays_only_itself() {
    let setup = prepared().await.set("plugins.constructor_timeout_ms", CONSTRUCTOR_MS);
    let setup = setup.set("plugins.hostile.constructor", "hang").set("plugins.hostile.hang_ms", 3_600_000);
    let begun = Instant::now();
    let mut gateway = setup.start().await.unwrap();
    let report = report_of(&gateway, "hostile").await;
    assert_eq!(
        (&report["state"], &report["reason"]),
        (&json!("starting"), &json!("its constructor has not returned yet"))
    );
    assert_others_serve(&gateway, begun).await;

    // The operator switches another plugin meanwhile.
    let disable = Site::at(gateway.admin_url()).request(Method::POST, "/plugins/hello/disable");
    assert_eq!(disable.header("x-gateway-admin", "1").send().await.unwrap().status(), 200);
    assert!(begun.elapsed() < SOON, "the operator waited for {:?}", begun.elapsed());

    let report = eventually_in(&gateway, "hostile", "failed").await;
    assert_eq!(report["reason"], "its constructor did not return within 12s");
    assert_eq!(report["threads_lost"], 1, "{report}");
    assert_eq!(report["faults"], 1, "{report}");
    assert!(setup.log().contains("its constructor did not return within 12s"));
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

/// Its threads come back with a restart only.
#[tokio::test]
async fn a_constructor_that_hung_three_times_is_not_tried_again() {
    let setup = prepared().await.set("plugins.constructor_timeout_ms", 300);
    let setup = setup.set("plugins.hostile.constructor", "hang").set("plugins.hostile.hang_ms", 3_600_000);
    let gateway = setup.start().await.unwrap();
    assert_eq!(eventually_in(&gateway, "hostile", "failed").await["threads_lost"], 1);
    let mut told = Vec::new();
    for _ in 0..3 {
        let resume = Site::at(gateway.admin_url()).request(Method::POST, "/plugins/hostile/resume");
        let report = answer(resume.header("x-gateway-admin", "1")).await.json();
        told.push(json!([report["state"], report["reason"], report["threads_lost"]]));
    }
    let hung = "its constructor did not return within 300ms";
    let holds = "its code holds 3 threads of this process: restart the gateway to start it again";
    let expected = [json!(["failed", hung, 2]), json!(["failed", hung, 3]), json!(["failed", holds, 3])];
    assert_eq!(told, expected);
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200);
}

#[tokio::test]
async fn a_constructor_that_takes_long_joins_later() {
    let setup = prepared().await.set("plugins.hostile.constructor", "hang").set("plugins.hostile.hang_ms", 6000);
    let begun = Instant::now();
    let gateway = setup.start().await.unwrap();
    assert_others_serve(&gateway, begun).await;
    assert_eq!(report_of(&gateway, "hostile").await["state"], "starting");
    let site = Site::of(&gateway);
    let early = site.get("/api/hostile/rows").await;
    assert_eq!((early.status, early.header("retry-after")), (503, "1"), "{}", early.text());
    assert_eq!(early.json()["code"], "unavailable");
    let report = eventually_in(&gateway, "hostile", "serving").await;
    assert_eq!((&report["threads_lost"], &report["faults"]), (&json!(0), &json!(0)));
    assert_eq!(site.get("/api/hostile/rows").await.status, 200);
    let is_unknown = async || site.get("/api/hostile/nothing").await.status == 404;
    TestGateway::eventually(LIMIT, "no plugin is starting any more", is_unknown).await;
}

#[tokio::test]
async fn one_that_is_required_is_waited_for() {
    let setup = prepared().await.set("plugins.hostile.constructor", "hang").set("plugins.hostile.hang_ms", 4000);
    let gateway = setup.set("plugins.required", "hostile").start().await.unwrap();
    assert_eq!(report_of(&gateway, "hostile").await["state"], "serving");
}

/// The linker's lock is held while a library's own code runs: in the gateway's process every new thread would wait for it.
#[rstest]
#[case::in_load(fixtures::hangs_in_load, "hangs_in_load", "did not return from its static constructors within 10s")]
#[case::in_manifest(fixtures::hangs_in_manifest, "hangs_in_manifest", "did not return from its manifest within 10s")]
#[tokio::test]
async fn a_library_that_hangs_delays_only_itself(
    #[case] build: fn() -> anyhow::Result<PathBuf>,
    #[case] name: &str,
    #[case] reason: &str,
) {
    let setup = with_fixture(build).await;
    let begun = Instant::now();
    let mut gateway = setup.start().await.unwrap();
    assert_eq!(report_of(&gateway, name).await["state"], "starting");
    assert_others_serve(&gateway, begun).await;
    let report = eventually_in(&gateway, name, "failed").await;
    assert_eq!(report["reason"], format!("plugin {name} {reason}: report it to the plugin's author"));
    assert_eq!(report["threads_lost"], 0, "its process was ended");
    assert!(setup.log().contains(reason));
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

#[tokio::test]
async fn a_library_that_ends_the_process_ends_another_one() {
    let setup = with_fixture(fixtures::dies_in_load).await;
    let gateway = setup.start().await.unwrap();
    let report = report_of(&gateway, "dies_in_load").await;
    assert_eq!(report["state"], "failed", "{report}");
    let reason = report["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("plugin dies_in_load ended the process in its static constructors (signal: 6 (SIGABRT)"),
        "{reason}"
    );
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200);
}

/// On both databases: the words of the database, and which migration, wherever an operator looks.
#[rstest]
#[tokio::test]
async fn a_failed_migration_is_told_everywhere(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let mut setup = with_fixture(fixtures::fails_to_migrate).await;
    let words = match engine {
        Engine::Sqlite => {
            "UNIQUE constraint failed: fails_to_migrate_rows.note (line 2, column 18: CREATE UNIQUE INDEX"
        }
        Engine::Postgres => {
            setup = setup.set("database.url", gateway_tests::postgres::fresh_database().await.unwrap());
            "could not create unique index \"fails_to_migrate_notes\" (table fails_to_migrate_rows; code 23505)"
        }
    };
    let told = format!("fails_to_migrate migration 2 (unique_notes) failed: {words}");
    let migrated = setup.run(&["migrate"]).unwrap();
    assert_eq!(migrated.code, Some(4), "{migrated:?}");
    assert!(migrated.stdout.contains(&told), "{}", migrated.stdout);
    if engine == Engine::Sqlite {
        // The check tries plugins on an empty SQLite file.
        let checked = setup.clone().unset("plugins.kb.network_pages").run(&["check"]).unwrap();
        assert!(checked.code == Some(5) && checked.stdout.contains(&told), "{checked:?}");
    }
    let gateway = setup.start().await.unwrap();
    let report = report_of(&gateway, "fails_to_migrate").await;
    let reason = report["reason"].as_str().unwrap();
    assert!(report["state"] == "failed" && reason.contains(&told), "{report}");
    let told_in_log = serde_json::to_string(&told).unwrap();
    assert!(setup.log().contains(told_in_log.trim_matches('"')), "{}", setup.log());
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200);
}

/// What a plugin allocates on its own side has no bound: log, report and list name who was at work.
#[tokio::test]
async fn much_memory_is_a_warning_that_names_the_calls() {
    let setup = prepared().await.set("plugins.memory_warn_mib", 1);
    let gateway = setup.start().await.unwrap();
    let request = Site::of(&gateway).request(Method::GET, "/api/hostile/wait");
    let waiting = tokio::spawn(async move { request.send().await });
    let is_named = async || {
        let log = setup.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|line| line["used_mib"].is_u64())
            .any(|line| line["calls"].as_str().unwrap().starts_with("hostile 1"))
    };
    TestGateway::eventually(LIMIT, "the call is named", is_named).await;
    // Its job may run at the same time.
    let told = "MiB of memory, more than 1, while calls of it are in progress: ";
    let is_told = async || {
        let report = report_of(&gateway, "hostile").await;
        let used = report["reason"].as_str().unwrap().strip_prefix("the process uses ");
        let used = used.and_then(|used| used.split_once(' '));
        report["state"] == "serving"
            && used.is_some_and(|(mib, rest)| mib.parse().is_ok_and(|mib: u32| mib > 1) && rest == format!("{told}1"))
    };
    TestGateway::eventually(LIMIT, "the report says so", is_told).await;
    let listed = setup.run(&["plugins", "list", "--admin", gateway.admin_url()]).unwrap();
    let line = listed.stdout.lines().find(|line| line.starts_with("hostile ")).unwrap();
    assert!(listed.code == Some(0) && line.contains(told), "{listed:?}");
    waiting.abort();
}

//! The transparency log of whole gateways: PyPI's `aics-tlog` verifies it over HTTP, before and after a kill, and a real backup that is
//! restored stops it.

use crate::{
    e2e::{Site, python, run, setup_with_all_plugins},
    storage::Engine,
};
use gateway_tests::{
    postgres,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use rstest::rstest;
use std::{path::PathBuf, time::Duration};

const CHECKPOINT: &str = "/api/log/checkpoint";
/// It is signed every ten seconds.
const SIGNED_WITHIN: Duration = Duration::from_secs(60);

async fn setup(engine: Engine) -> Setup {
    let setup = setup_with_all_plugins().with_only(&["hello", "transparency"]).unwrap();
    let setup = setup
        .unset("plugins.kb.network_pages")
        .set("limits.write_interval_ms", 0)
        // The log keeps its name, whatever port the gateway gets.
        .set("plugins.transparency.origin", "log.example/test");
    match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

/// Publishes so many events and waits until the checkpoint has this size.
async fn grow(gateway: &GatewayProcess, count: usize, size: usize) -> String {
    let site = Site::of(gateway);
    for number in 0..count {
        let payload = json!({ "message": format!("{number} of {size}") });
        let signed = site.write("/api/hello/guests", &Wallet::new(1), "hello.sign", payload).await;
        assert_eq!(signed.status, 201, "{}", signed.text());
    }
    let has_size = || async { site.get(CHECKPOINT).await.text().lines().nth(1) == Some(&size.to_string()) };
    TestGateway::eventually(SIGNED_WITHIN, "the checkpoint", has_size).await;
    site.get(CHECKPOINT).await.text()
}

async fn verify(gateway: &GatewayProcess, size: usize, earlier: Option<&PathBuf>) {
    let earlier = earlier.map(|path| path.to_str().unwrap());
    let arguments: Vec<&str> = [gateway.base_url()].into_iter().chain(earlier).collect();
    let printed = run(python("verify_log.py"), &arguments).await;
    let found: Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert_eq!(found["size"], size, "{found}");
    assert_eq!(found["types"], json!(vec!["hello.sign"; size]));
    assert_eq!(found["refused"], json!([true, true, true]), "forgeries that it must refuse");
}

async fn command(setup: &Setup, arguments: &[&str]) {
    let (setup, arguments) = (setup.clone(), arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
    let run = move || setup.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let ended = tokio::task::spawn_blocking(run).await.unwrap().unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_verified_survives_a_kill_and_stops_after_an_older_backup(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let setup = setup(engine).await;
    let mut gateway = setup.start().await.unwrap();
    let (earlier, backup) = (setup.folder().join("earlier"), setup.folder().join("backup"));
    std::fs::write(&earlier, grow(&gateway, 3, 3).await).unwrap();
    verify(&gateway, 3, None).await;
    command(&setup, &["backup", backup.to_str().unwrap()]).await;

    gateway.kill().await.unwrap();
    let mut gateway = setup.start().await.unwrap();
    grow(&gateway, 2, 5).await;
    verify(&gateway, 5, Some(&earlier)).await;

    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    command(&setup, &["restore", backup.to_str().unwrap(), "--force"]).await;
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let stopped = site.get(CHECKPOINT).await;
    assert_eq!((stopped.status, &stopped.json()["code"]), (503, &json!("disabled")), "{}", stopped.text());
    let health = site.get("/api/health").await.json();
    assert_eq!(health["v3"]["transparencyLog"]["ok"], false, "{health}");
}

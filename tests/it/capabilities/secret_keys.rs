//! The keys behind the secrets of plugins: generated once, rotated, missing, and another gateway's.

use super::post;
use gateway_config::Config;
use gateway_plugins::PluginState;
use gateway_tests::{
    fixtures,
    process::{LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, json};
use std::{fs, os::unix::fs::PermissionsExt as _};

const KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const KEY_ID: &str = "3dfe61bc8e189249";
const NEWER: &str = "ff02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

async fn seal(gateway: &TestGateway) -> Value {
    let members = json!({ "operation": "seal", "secret": "values", "text": "a note", "associated": "row 1" });
    post(gateway, "/api/keeper/secret", members).await.json()["ok"].clone()
}

async fn open(gateway: &TestGateway, operation: &str, sealed: &Value) -> Value {
    let members = json!({ "operation": operation, "secret": "values", "sealed": sealed, "associated": "row 1" });
    post(gateway, "/api/keeper/secret", members).await.json()
}

/// Why the plugin does not serve.
async fn reason(gateway: &TestGateway) -> String {
    let report = gateway.reports().await.into_iter().find(|report| report.name == "keeper").unwrap();
    assert_eq!(report.state, PluginState::Failed, "{report:?}");
    report.reason
}

fn set_keys(config: &mut Config, key: &str, old: &[&str]) {
    config.secrets.key = Some(key.into());
    config.secrets.old_keys = old.iter().map(|key| (*key).into()).collect();
}

#[tokio::test]
async fn a_key_is_generated_for_a_new_database_and_for_no_other() {
    for gateway in TestGateway::each_database(&[keeper::plugin_module()]).await {
        let file = gateway.gateway().config.data_dir.join("secrets.key");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let sealed = seal(&gateway).await;
        let gateway = gateway.restart().await;
        assert_eq!(open(&gateway, "open", &sealed).await, json!({ "ok": "a note" }));

        let key = fs::read_to_string(&file).unwrap();
        let gateway = gateway.restart_after(|_| fs::remove_file(&file).unwrap()).await;
        let reason_now = reason(&gateway).await;
        assert!(reason_now.contains("which is not here: copy its file") && !reason_now.contains(&key), "{reason_now}");
        assert!(!file.exists(), "no other key takes its place");

        let gateway = gateway.restart_after(|config| set_keys(config, NEWER, &[])).await;
        let reason_now = reason(&gateway).await;
        assert!(reason_now.contains("GATEWAY_SECRETS__KEY holds") && !reason_now.contains(NEWER), "{reason_now}");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_rotated_key_goes_on_opening() {
    let builders = [Some(TestGateway::builder()), TestGateway::postgres_builder().await];
    for builder in builders.into_iter().flatten() {
        let builder = builder.plugin(keeper::plugin_module()).configure(|config| set_keys(config, KEY, &[]));
        let gateway = builder.start().await;
        let sealed = seal(&gateway).await;
        assert!(sealed.as_str().unwrap().starts_with(&format!("01{KEY_ID}")), "{sealed}");
        assert!(!gateway.gateway().config.data_dir.join("secrets.key").exists());

        // Every gateway learns the new key before one of them seals with it.
        let gateway = gateway.restart_after(|config| set_keys(config, KEY, &[NEWER])).await;
        assert!(seal(&gateway).await.as_str().unwrap().starts_with(&format!("01{KEY_ID}")));
        let gateway = gateway.restart_after(|config| set_keys(config, NEWER, &[KEY])).await;
        assert_eq!(open(&gateway, "open", &sealed).await, json!({ "ok": "a note" }));
        let resealed = open(&gateway, "reseal", &sealed).await["ok"].clone();
        assert_eq!(open(&gateway, "reseal", &resealed).await, json!({ "ok": null }));

        let gateway = gateway.restart_after(|config| set_keys(config, NEWER, &[])).await;
        assert_eq!(open(&gateway, "open", &resealed).await, json!({ "ok": "a note" }));
        // What was forgotten names its key, to the caller too, and is no fault of the plugin.
        let lost = open(&gateway, "open_or_fail", &sealed).await;
        assert!(lost["code"] == "disabled" && lost["error"].as_str().unwrap().contains(KEY_ID), "{lost}");
        assert_eq!(gateway.faults().await, Vec::<String>::new());

        // A gateway that was forgotten in the rotation.
        let gateway = gateway.restart_after(|config| set_keys(config, KEY, &[])).await;
        let reason = reason(&gateway).await;
        assert!(reason.contains("old_key_files") && reason.contains(KEY_ID) && !reason.contains(KEY), "{reason}");
        gateway.stop().await;
    }
}

pub(super) fn with_keeper(setup: Setup) -> Setup {
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    let library = fixtures::keeper().unwrap();
    fs::copy(&library, folder.join(library.file_name().unwrap())).unwrap();
    setup.with_plugins_of(&folder).set("plugins.keeper.grants", "egress,secrets")
}

/// With the compiled library, as an operator meets it.
#[tokio::test]
async fn check_finds_what_a_start_would() {
    let setup = with_keeper(Setup::new(env!("CARGO_BIN_EXE_gateway-under-test")).unwrap());
    let refused = setup.clone().set("plugins.keeper.grants", "egress").run(&["check"]).unwrap();
    assert!(refused.stdout.contains("it asks for secrets and did not come"), "{refused:?}");
    let key_file = setup.folder().join("data/secrets.key");
    let ok = setup.run(&["check"]).unwrap();
    assert_eq!(ok.code, Some(0), "{ok:?}");
    assert!(!key_file.exists(), "a check makes no key");

    let mut gateway = setup.clone().start().await.unwrap();
    gateway.terminate(LIMIT).await.unwrap();
    let ok = setup.run(&["check"]).unwrap();
    assert_eq!(ok.code, Some(0), "{ok:?}");
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o644)).unwrap();
    let open_to_all = setup.run(&["check"]).unwrap();
    assert!(open_to_all.code == Some(5) && open_to_all.stdout.contains("chmod 600"), "{open_to_all:?}");
    fs::remove_file(&key_file).unwrap();
    let gone = setup.run(&["check"]).unwrap();
    assert!(gone.code == Some(5) && gone.stdout.contains("keeper: what plugins keep secret"), "{gone:?}");
    let named = setup.clone().set("secrets.key_file", "/nowhere/secrets.key").run(&["check"]).unwrap();
    assert!(named.stdout.contains("/nowhere/secrets.key") && named.code == Some(5), "{named:?}");
    let other = setup.clone().set("secrets.key", NEWER).run(&["check"]).unwrap();
    assert!(other.stdout.contains("GATEWAY_SECRETS__KEY holds") && !other.stdout.contains(NEWER), "{other:?}");
    // Without a plugin that asks for it, nothing is missing.
    let off = setup.set("plugins.keeper.enabled", false).run(&["check"]).unwrap();
    assert_eq!(off.code, Some(0), "{off:?}");
}

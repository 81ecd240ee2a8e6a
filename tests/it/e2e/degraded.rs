//! A plugin that cannot serve is named, and the others go on.

use super::{
    setup,
    site::{Site, THREADS},
};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Value, Wallet};

/// What the operator's listener says about a plugin.
async fn report(gateway: &GatewayProcess, plugin: &str) -> Value {
    let reports = Site::at(gateway.admin_url()).get("/plugins").await.json();
    reports.as_array().unwrap().iter().find(|report| report["name"] == plugin).unwrap().clone()
}

#[tokio::test]
async fn a_library_with_another_hash_than_the_pinned_one_is_refused() {
    let gateway = setup().set("plugins.hello.sha256", "0".repeat(64)).start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get("/api/hello/world").await.status, 404);
    site.open_thread(&Wallet::new(1), "The others serve").await;
    assert_eq!(site.get("/api/activity").await.json()["items"].as_array().unwrap().len(), 1);

    let status = site.get("/api/status").await;
    assert_eq!((status.status, status.header("x-service-degraded")), (200, "plugins"), "{}", status.text());
    let status = status.json();
    assert_eq!((&status["ok"], &status["degraded"]), (&false.into(), &vec!["plugins"].into()), "{status}");
    let detail = status["services"]["plugins"]["detail"].as_str().unwrap();
    assert!(detail.contains("hello"), "{detail}");

    let report = report(&gateway, "hello").await;
    assert_eq!(report["state"], "refused", "{report}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains(&"0".repeat(64)) && reason.contains("libhello.so"), "{reason}");
}

#[tokio::test]
async fn nothing_is_degraded_when_all_is_well() {
    let gateway = setup().start().await.unwrap();
    let status = Site::of(&gateway).get("/api/status").await;
    assert_eq!(status.header("x-service-degraded"), "");
    assert_eq!(status.json()["degraded"].as_array().map(Vec::len), Some(0), "{}", status.text());
}

async fn greets(site: &Site, greeting: &str) {
    let expected = format!("{greeting}, world!");
    let does = async || site.get("/api/hello/world").await.json()["greeting"] == expected;
    TestGateway::eventually(LIMIT, &expected, does).await;
}

/// A wrong setting takes a plugin off; the operator corrects it, or disables the plugin, and nothing has to be
/// restarted.
#[tokio::test]
async fn a_plugin_with_a_wrong_setting_waits_for_a_correction() {
    let setup = setup().with_config("[plugins.hello]\nkeep_days = 0\n").unwrap();
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let failed = report(&gateway, "hello").await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["reason"].as_str().unwrap().contains("keep_days is 0"), "{failed}");
    assert_eq!(site.get("/api/status").await.header("x-service-degraded"), "plugins");
    assert_eq!(site.get(THREADS).await.status, 200);

    setup.write_config("[plugins.hello]\nenabled = false\n").unwrap();
    gateway.sighup().unwrap();
    let is_well = async || site.get("/api/status").await.json()["ok"] == true;
    TestGateway::eventually(LIMIT, "what is switched off is not degraded", is_well).await;
    assert_eq!(report(&gateway, "hello").await["state"], "disabled");

    setup.write_config("[plugins.hello]\ngreeting = \"Moin\"\n").unwrap();
    gateway.sighup().unwrap();
    greets(&site, "Moin").await;
}

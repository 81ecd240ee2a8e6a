//! A plugin that cannot serve is named, and the others go on.

use super::{
    setup,
    site::{Site, THREADS},
};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet};

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
    let degraded = "chain,indexer,plugins,rpc,v3indexer";
    assert_eq!((status.status, status.header("x-service-degraded")), (200, degraded), "{}", status.text());
    let status = status.json();
    assert_eq!((&status["ok"], &status["degraded"]), (&false.into(), &degraded.split(',').collect()), "{status}");
    let detail = status["services"]["plugins"]["detail"].as_str().unwrap();
    assert!(detail.contains("hello"), "{detail}");

    let report = report(&gateway, "hello").await;
    assert_eq!(report["state"], "refused", "{report}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains(&"0".repeat(64)) && reason.contains("libhello.so"), "{reason}");
}

#[tokio::test]
async fn nothing_is_degraded_when_all_is_well() {
    let chain = ScriptedChain::start().await;
    let gateway = setup().set("chains.main.rpc", chain.url()).set("chains.main.poll_ms", 50).start().await.unwrap();
    let site = Site::of(&gateway);
    // The blocks of the scripted chain are from another day.
    let others = async || {
        let degraded = site.get("/api/status").await.json()["degraded"].clone();
        degraded.as_array().unwrap().iter().filter(|service| *service != "chain").count()
    };
    TestGateway::eventually(LIMIT, "nothing else is degraded", async || others().await == 0).await;
}

/// What agents and jobs do is unknown then: that is not well, and says what to do.
#[tokio::test]
async fn a_gateway_without_a_chain_says_that_it_has_none() {
    let gateway = setup().start().await.unwrap();
    let status = Site::of(&gateway).get("/api/status").await.json();
    for (service, member) in
        [("rpc", "url"), ("chain", "signers"), ("indexer", "indexedBlock"), ("v3indexer", "deployBlock")]
    {
        let row = &status["services"][service];
        assert_eq!((&row["ok"], &row["enabled"], &row[member]), (&false.into(), &false.into(), &Value::Null), "{row}");
        assert!(row["detail"].as_str().unwrap().contains("[chains.main]") && row.get(member).is_some(), "{row}");
    }
    assert_eq!(status["degraded"], plugin_testing::json!(["chain", "indexer", "rpc", "v3indexer"]), "{status}");
}

async fn degraded(site: &Site) -> Vec<String> {
    serde_json::from_value(site.get("/api/status").await.json()["degraded"].clone()).unwrap()
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
    let setup = setup().unset("plugins.hello.enabled");
    let setup = setup.with_config("[plugins.hello]\nenabled = true\nkeep_days = 0\n").unwrap();
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let failed = report(&gateway, "hello").await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["reason"].as_str().unwrap().contains("keep_days is 0"), "{failed}");
    assert!(degraded(&site).await.contains(&"plugins".to_owned()));
    assert_eq!(site.get(THREADS).await.status, 200);

    setup.write_config("[plugins.hello]\nenabled = false\n").unwrap();
    gateway.sighup().unwrap();
    let is_well = async || !degraded(&site).await.contains(&"plugins".to_owned());
    TestGateway::eventually(LIMIT, "what is switched off is not degraded", is_well).await;
    assert_eq!(report(&gateway, "hello").await["state"], "disabled");

    setup.write_config("[plugins.hello]\nenabled = true\ngreeting = \"Moin\"\n").unwrap();
    gateway.sighup().unwrap();
    greets(&site, "Moin").await;
}

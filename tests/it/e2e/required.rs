//! Plugins that must serve: without them the gateway does not start, and is not ready.

use super::{
    setup,
    site::{Site, THREADS},
};
use gateway_tests::process::LIMIT;
use plugin_testing::TestGateway;

/// A plugin that refuses its settings.
const BROKEN: &str = "[plugins.hello]\nkeep_days = 0\n";
const PLUGIN: Option<i32> = Some(5);

#[test]
fn a_required_plugin_that_fails_ends_the_start() {
    let setup = setup().with_config(BROKEN).unwrap();
    for ended in [
        setup.clone().set("plugins.required", "forum,hello").run(&["run"]).unwrap(),
        setup.clone().set("plugins.strict", true).run(&["run"]).unwrap(),
        setup.run(&["run", "--strict"]).unwrap(),
    ] {
        assert_eq!((ended.code, ended.stdout.as_str()), (PLUGIN, ""), "{ended:?}");
        let reason = ended.stderr.lines().find(|line| line.starts_with("gateway: ")).unwrap();
        assert!(reason.contains("hello is failed") && reason.contains("keep_days is 0"), "{reason}");
        assert!(!reason.contains("forum"), "the others serve: {reason}");
    }
}

#[test]
fn a_required_plugin_that_is_not_there_ends_the_start() {
    let ended = setup().set("plugins.required", "forum,nosuch").run(&["run"]).unwrap();
    assert_eq!(ended.code, PLUGIN, "{ended:?}");
    assert!(ended.stderr.contains("nosuch is not in the folder of the plugins"), "{ended:?}");
    let checked = setup().set("plugins.required", "forum,nosuch").run(&["check"]).unwrap();
    assert!(checked.code == Some(3) && checked.stdout.contains("there is no plugin nosuch"), "{checked:?}");
    let off = setup().set("plugins.required", "forum").set("plugins.forum.enabled", false).run(&["run"]).unwrap();
    assert!(off.code == Some(3) && off.stderr.contains("forum is switched off"), "{off:?}");
}

#[tokio::test]
async fn a_plugin_that_nobody_requires_may_fail() {
    let gateway = setup().with_config(BROKEN).unwrap().set("plugins.required", "forum").start().await.unwrap();
    assert_eq!(Site::of(&gateway).get(THREADS).await.status, 200);
    assert_eq!(Site::at(gateway.admin_url()).get("/ready").await.status, 200);
}

/// Nothing of it needs a restart: an operator enables the plugin, or no longer requires it.
#[tokio::test]
async fn without_a_required_plugin_the_gateway_is_not_ready() {
    let setup = setup().with_config("[plugins]\nrequired = [\"forum\"]\n").unwrap();
    let gateway = setup.start().await.unwrap();
    let (site, operator) = (Site::of(&gateway), Site::at(gateway.admin_url()));
    let ready = async |ok: bool| {
        let (answer, health) = (operator.get("/ready").await, site.get("/api/health").await);
        assert_eq!((answer.json()["ok"] == ok, health.json()["ok"] == ok), (true, true), "{}", answer.text());
        assert_eq!((answer.status, health.status), (if ok { 200 } else { 503 }, 200));
        answer.json()["plugins"].to_string()
    };
    ready(true).await;
    let switch = async |action: &str| {
        let request = operator.request(reqwest::Method::POST, &format!("/plugins/forum/{action}"));
        assert_eq!(super::answer(request.header("x-gateway-admin", "1")).await.status, 200);
    };
    switch("disable").await;
    let reason = ready(false).await;
    assert!(reason.contains("forum is disabled: switched off by an operator"), "{reason}");
    assert!(operator.get("/").await.text().contains("forum is disabled"));
    assert_eq!(operator.get("/live").await.status, 200);
    switch("enable").await;
    ready(true).await;

    switch("disable").await;
    setup.write_config("").unwrap();
    gateway.sighup().unwrap();
    let is_ready = async || operator.get("/ready").await.status == 200;
    TestGateway::eventually(LIMIT, "nobody requires it any more", is_ready).await;
}

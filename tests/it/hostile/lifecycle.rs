//! Plugins that fail on the way up or down: the report says why, and the others never notice.

use super::{
    LIMIT, assert_fault, assert_others_serve, call, gateway, gateway_with, last_fault, report, switch, variants,
};
use gateway_plugins::PluginState;
use gateway_storage::Scope;
use plugin_api::{abi::PluginModule_Ref, sql};
use plugin_testing::{TestGateway, json};
use rstest::rstest;
use std::time::{Duration, Instant};

#[rstest]
#[case("panic", "the constructor failed: in the constructor at tests/hostile/src/config.rs:")]
#[case("hang", "its constructor did not return within 300ms")]
#[tokio::test]
async fn a_constructor_that_breaks_is_a_reason(#[case] act: &str, #[case] reason: &str) {
    let gateway =
        gateway_with(json!({ "constructor": act }), |config| config.plugins.constructor_timeout_ms = 300).await;
    let report = report(&gateway, "hostile").await;
    assert_eq!(report.state, PluginState::Failed);
    assert!(report.reason.starts_with(reason), "{}", report.reason);
    assert_eq!(report.faults, 1);
    assert_eq!(call(&gateway, "rows").await.status, 404);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_unknown_key_is_named() {
    let gateway = gateway(json!({ "unheard_of": 1 })).await;
    let report = report(&gateway, "hostile").await;
    assert_eq!(report.state, PluginState::Failed);
    let reason = "[plugins.hostile] is not valid: unknown field `unheard_of`, expected one of `constructor`, `stop`, \
                  `drop`, `job`, `contribution`, `hang_ms`";
    assert!(report.reason.starts_with(reason), "{}", report.reason);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[rstest]
#[case(variants::PanicsInDefine::module(), "linked", PluginState::Failed, "panic at tests/it/hostile/variants.rs:")]
#[case(variants::BadCron::module(), "linked", PluginState::Refused, "job never: cron line `61 * * * *`: ")]
#[case(
    variants::BadJob::module(),
    "linked",
    PluginState::Refused,
    "job always: runs every 1 ms: expected at least 100"
)]
#[case(
    variants::TakesRoute::module(),
    "takes_route",
    PluginState::Failed,
    "GET /api/hello/{who} is already one of hello"
)]
#[case(
    variants::TakesOwnRoute::module(),
    "takes_own_route",
    PluginState::Failed,
    "GET /api/status is already one of host"
)]
#[case(
    variants::TakesOperation::module(),
    "takes_operation",
    PluginState::Failed,
    "the operation get_greeting is already one of hello"
)]
#[case(
    variants::NeedsMissing::module(),
    "needs_missing",
    PluginState::Failed,
    "it requires nobody, which does not serve: enable it first"
)]
#[case(
    variants::TakesView::module(),
    "takes_view",
    PluginState::Failed,
    "the view hello_guests_v1 is named like one of hello"
)]
#[case(
    variants::SharesTables::module(),
    "hello_x",
    PluginState::Failed,
    "its tables could not be told from those of hello: rename one of the two"
)]
#[case(variants::MigratesOthers::module(), "migrates_others", PluginState::Failed, "hello_guests")]
#[case(variants::FailsToMigrate::module(), "fails_to_migrate", PluginState::Failed, "fails_to_migrate_c")]
#[tokio::test]
async fn a_wrong_definition_is_a_reason(
    #[case] module: PluginModule_Ref,
    #[case] name: &str,
    #[case] state: PluginState,
    #[case] reason: &str,
) {
    let gateway = TestGateway::builder().plugin(hello::plugin_module()).plugin(module).open().await;
    let report = report(&gateway, name).await;
    assert_eq!(report.state, state, "{}", report.reason);
    assert!(report.reason.contains(reason), "{}", report.reason);
    assert_eq!(report.reason.lines().count(), 1, "{}", report.reason);
    assert_eq!(gateway.get("/api/fails").await.status, 404);
    assert_others_serve(&gateway, 1).await;
    assert_eq!(tables_of(&gateway, name).await, Vec::<String>::new(), "the database is as it was before");
    gateway.stop().await;
}

async fn tables_of(gateway: &TestGateway, plugin: &str) -> Vec<String> {
    let select = sql("SELECT name FROM sqlite_master WHERE type = 'table'");
    let rows = gateway.gateway().database.read(&Scope::Host, select.into()).await.unwrap();
    let names: Vec<String> = plugin_api::host::decode_rows(&rows).unwrap();
    names.into_iter().filter(|name| name.starts_with(plugin)).collect()
}

#[tokio::test]
async fn plugins_that_require_each_other_are_named() {
    let circle = [variants::CircleOne::module(), variants::CircleTwo::module()];
    let builder = circle.into_iter().fold(TestGateway::builder(), plugin_testing::Builder::plugin);
    let gateway = builder.plugin(hello::plugin_module()).open().await;
    for name in ["circle_one", "circle_two"] {
        let report = report(&gateway, name).await;
        let told = (report.state, report.reason.as_str());
        assert_eq!(told, (PluginState::Failed, "these plugins require each other: circle_one, circle_two"));
    }
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[rstest]
#[case(json!({ "stop": "panic" }), "panic in stop: in stop at ", "hostile/src/config.rs:")]
#[case(json!({ "stop": "hang", "hang_ms": 1500 }), "timeout in stop after 500ms", "")]
#[case(json!({ "drop": "hang", "hang_ms": 1500 }), "timeout in drop after 500ms", "")]
#[case(json!({ "drop": "panic" }), "panic in drop: in the plugin's drop at ", "hostile/src/config.rs:")]
#[tokio::test]
async fn a_plugin_that_breaks_on_its_way_down_is_down(
    #[case] settings: plugin_testing::Value,
    #[case] fault: &str,
    #[case] place: &str,
) {
    let gateway = gateway(settings).await;
    let begun = Instant::now();
    switch(&gateway, false).await;
    assert!(begun.elapsed() < Duration::from_millis(1200), "{:?}", begun.elapsed());
    assert_fault(&gateway, fault, place).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Disabled);
    assert_others_serve(&gateway, 1).await;
    switch(&gateway, true).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    assert_eq!(call(&gateway, "rows").await.status, 200);
    assert!(last_fault(&gateway).await.starts_with(fault), "a fault is told until there is a later one");
    gateway.stop().await;
}

#[tokio::test]
async fn a_request_inside_does_not_hold_up_the_end_for_longer_than_the_drain() {
    let gateway = std::sync::Arc::new(gateway(json!({})).await);
    let waiting = tokio::spawn({
        let gateway = gateway.clone();
        async move { call(&gateway, "wait").await }
    });
    let inside = async || gateway.gateway().active.list().iter().any(|plugin| plugin.in_flight() > 0);
    TestGateway::eventually(LIMIT, "the request is inside", inside).await;
    let begun = Instant::now();
    switch(&gateway, false).await;
    assert!(begun.elapsed() < Duration::from_millis(1200), "{:?}", begun.elapsed());
    assert_others_serve(&gateway, 1).await;
    waiting.abort();
}

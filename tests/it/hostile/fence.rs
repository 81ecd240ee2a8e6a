//! A plugin that fails too often is taken off until an operator switches it off and on again.

use super::{LIMIT, assert_internal, assert_others_serve, call, gateway_with, report, switch};
use gateway_plugins::{FenceCause, FenceRequest, PluginState};
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn too_many_faults_fence_a_plugin_until_it_is_switched_off_and_on() {
    let gateway = gateway_with(json!({}), |config| config.plugins.fence_faults = 3).await;
    for _ in 0..3 {
        assert_internal(&call(&gateway, "panic_at_once").await);
    }
    let fenced = async || report(&gateway, "hostile").await.state == PluginState::Fenced;
    TestGateway::eventually(LIMIT, "the plugin is fenced", fenced).await;
    let told = report(&gateway, "hostile").await;
    let reason = "3 faults within 60s; the last one: panic in panic_at_once: at once at ";
    assert!(told.reason.starts_with(reason) && told.faults == 3, "{told:?}");
    for operation in ["rows", "panic_at_once"] {
        let answer = call(&gateway, operation).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "disabled"), "{}", answer.text());
    }
    assert_others_serve(&gateway, 1).await;

    // The same configuration again is no decision of an operator.
    switch(&gateway, true).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Fenced);

    switch(&gateway, false).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Disabled);
    switch(&gateway, true).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    assert_eq!(call(&gateway, "rows").await.status, 200);
    // It starts with no faults counted.
    for _ in 0..2 {
        assert_internal(&call(&gateway, "panic_at_once").await);
    }
    assert_eq!(call(&gateway, "rows").await.status, 200);
    assert_others_serve(&gateway, 2).await;
    gateway.stop().await;
}

/// A fence request that was sent before an operator restarted the plugin has no effect on the new start.
#[tokio::test]
async fn a_late_fence_does_not_meet_the_next_life() {
    let gateway = gateway_with(json!({}), |config| config.plugins.fence_faults = 1000).await;
    let running = gateway.gateway().host.active.list();
    let generation = running.iter().find(|plugin| plugin.name() == "hostile").unwrap().handle.generation;
    let request =
        FenceRequest { plugin: "hostile".into(), generation, cause: FenceCause::Faults, reason: "late".into() };
    switch(&gateway, false).await;
    gateway.gateway().plugins.fence(&request).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Disabled);
    switch(&gateway, true).await;
    gateway.gateway().plugins.fence(&request).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    gateway.stop().await;
}

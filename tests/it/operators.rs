//! Operators switch plugins that need each other, in the test's own process and on both databases.

use gateway::lifecycle::{OperateError, OperatorAction};
use gateway_plugins::PluginState;
use plugin_api::host::object_module as module;
use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, host::Identity};
use plugin_testing::TestGateway;

struct Ground;
struct Tower;

impl Identity for Ground {
    const NAME: &'static str = "ground";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "What another plugin stands on";
}

impl Identity for Tower {
    const NAME: &'static str = "tower";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Stands on another plugin";
}

impl Plugin for Ground {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

impl Plugin for Tower {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().requires(&["ground"])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// Whether it got there, the state and the reason.
async fn act(gateway: &TestGateway, action: OperatorAction, name: &str) -> (bool, PluginState, String) {
    let outcome = gateway.gateway().plugins.operate(action, name, "the test").await.unwrap();
    (outcome.is_reached, outcome.report.state, outcome.report.reason)
}

async fn state(gateway: &TestGateway, name: &str) -> PluginState {
    gateway.reports().await.into_iter().find(|report| report.name == name).unwrap().state
}

#[tokio::test]
async fn what_others_stand_on_is_not_taken_away() {
    for gateway in TestGateway::each_database(&[module::<Ground>(), module::<Tower>()]).await {
        let (is_reached, state_now, reason) = act(&gateway, OperatorAction::Disable, "ground").await;
        assert_eq!((is_reached, state_now), (false, PluginState::Serving), "{reason}");
        assert!(reason.contains("tower requires it"), "{reason}");
        let stored = gateway.gateway().operators.switches().await.unwrap();
        assert!(stored.is_empty(), "a refused command decides nothing: {stored:?}");

        assert!(act(&gateway, OperatorAction::Disable, "tower").await.0);
        assert!(act(&gateway, OperatorAction::Disable, "ground").await.0);
        let (is_reached, state_now, reason) = act(&gateway, OperatorAction::Enable, "tower").await;
        assert_eq!((is_reached, state_now), (false, PluginState::Failed), "{reason}");
        assert!(reason.contains("requires ground"), "{reason}");
        assert!(act(&gateway, OperatorAction::Enable, "ground").await.0);
        assert_eq!(state(&gateway, "tower").await, PluginState::Serving, "it waited for nothing else");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_gateway_that_stops_takes_no_commands() {
    for running in TestGateway::each_database(&[module::<Ground>()]).await {
        let gateway = running.gateway();
        let nobody = gateway.plugins.operate(OperatorAction::Enable, "nobody", "the test").await;
        assert!(matches!(nobody, Err(OperateError::Unknown(name)) if name == "nobody"));
        gateway.plugins.stop().await;
        let late = gateway.plugins.operate(OperatorAction::Enable, "ground", "the test").await;
        assert!(matches!(late, Err(OperateError::Closing)), "{late:?}");
        assert_eq!(state(&running, "ground").await, PluginState::Stopped);
        running.stop().await;
    }
}

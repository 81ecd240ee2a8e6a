//! What counts as a fault of a plugin's operation, by the one rule for all calls of plugins.

use super::gateway;
use abi_stable::std_types::RResult;
use gateway_plugins::CallError;
use plugin_api::abi::{Fault, FaultKind};
use plugin_testing::json;
use std::{
    future::{pending, ready},
    time::Duration,
};

fn fault() -> RResult<u8, Fault> {
    RResult::RErr(Fault { kind: FaultKind::Error, message: "no".into(), location: Default::default() })
}

#[tokio::test]
async fn what_a_plugin_does_wrong_counts_once_and_nothing_else_does() {
    let limit = Duration::from_millis(50);
    let gateway = gateway(json!({})).await;
    let active = gateway.gateway().active.list();
    let plugin = active.iter().find(|plugin| plugin.name() == "hostile").unwrap();
    let operation = plugin.operations.route(0).unwrap();
    let call = || plugin.admit_call(operation).unwrap();
    let faults = || plugin.handle.fault_count();

    assert!(matches!(call().run(limit, || ready(RResult::ROk(7)), || false).await, Ok(7)));
    assert!(matches!(call().run(limit, || ready(fault()), || true).await, Err(CallError::Excused)));
    assert_eq!(faults(), 0);
    assert!(matches!(call().run(limit, || ready(fault()), || false).await, Err(CallError::Fault(_))));
    assert_eq!(faults(), 1);
    let never = || pending::<RResult<u8, Fault>>();
    assert!(matches!(call().run(limit, never, || false).await, Err(CallError::TimedOut(_))));
    assert_eq!(faults(), 2);
    let problem = call().check::<u8>(Err("it is no number".to_owned()));
    assert!(matches!(problem, Err(CallError::Invalid(problem)) if problem == "it is no number"));
    assert_eq!(faults(), 3);
    let (_, told) = plugin.handle.last_fault().unwrap();
    assert_eq!(told, format!("error in {}: it is no number", operation.name()));

    plugin.handle.pause(operation.name(), "for the test");
    assert!(matches!(plugin.admit_call(operation), Err(CallError::Paused(_))));
    plugin.handle.resume_operations();
    let admitted = call();
    plugin.handle.gate.close();
    assert!(matches!(admitted.run(limit, || ready(RResult::ROk(7)), || false).await, Err(CallError::Fenced)));
    assert_eq!(faults(), 3);
    gateway.stop().await;
}

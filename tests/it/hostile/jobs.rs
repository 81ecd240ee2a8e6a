//! Jobs that panic and hang.

use super::{LIMIT, assert_others_serve, assert_serving, gateway, last_fault, report};
use plugin_testing::{TestGateway, json};
use rstest::rstest;
use std::time::Duration;

#[rstest]
#[case("panic", "panic in job misbehave: in the job at tests/hostile/src/config.rs:")]
#[case("hang", "timeout in job misbehave after 200ms")]
#[tokio::test]
async fn a_job_that_breaks_is_a_fault_and_runs_again(#[case] act: &str, #[case] fault: &str) {
    let gateway = gateway(json!({ "job": act })).await;
    let failed_twice = async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        report(&gateway, "hostile").await.faults >= 2
    };
    TestGateway::eventually(LIMIT, "the job failed twice", failed_twice).await;
    let told = last_fault(&gateway).await;
    assert!(told.starts_with(fault), "{told}");
    assert_serving(&gateway).await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

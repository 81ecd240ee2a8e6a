//! Handlers that panic and hang.

use super::{assert_fault, assert_internal, assert_others_serve, assert_serving, call, gateway, last_fault, report};
use plugin_testing::json;
use rstest::rstest;
use std::time::{Duration, Instant};

#[rstest]
#[case("panic_at_once", "at once", "hostile/src/panics.rs:")]
#[case("panic_after_await", "after an await", "hostile/src/panics.rs:")]
#[case("panic_in_extractor", "in an extractor", "hostile/src/panics.rs:")]
#[case("panic_in_serializer", "in a serializer", "hostile/src/panics.rs:")]
#[case("panic_with_evil_payload", "a panic without a message", "hostile/src/panics.rs:")]
#[case("panic_in_drop", "in a local's drop", "hostile/src/drops.rs:")]
#[tokio::test]
async fn a_panic_is_one_answer_and_one_fault(#[case] operation: &str, #[case] said: &str, #[case] place: &str) {
    let gateway = gateway(json!({})).await;
    assert_internal(&call(&gateway, operation).await);
    assert_fault(&gateway, &format!("panic in {operation}: {said} at "), place).await;
    assert_eq!(report(&gateway, "hostile").await.faults, 1);
    assert_serving(&gateway).await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_hang_and_a_future_whose_drop_panics_end_with_the_time_limit() {
    let gateway = gateway(json!({})).await;
    for operation in ["hang", "panic_in_cancelled_drop"] {
        let answer = call(&gateway, operation).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "timeout"), "{}", answer.text());
    }
    assert_eq!(last_fault(&gateway).await, "timeout in panic_in_cancelled_drop after 300ms");
    // Two time limits, and the drop.
    assert_eq!(report(&gateway, "hostile").await.faults, 3);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn panics_beside_the_handler_stay_there() {
    let gateway = gateway(json!({})).await;
    let thread = call(&gateway, "panic_in_thread").await;
    assert_eq!((thread.status, thread.json()), (200, json!(1)));
    assert_eq!(call(&gateway, "panic_in_task").await.status, 200);
    assert_fault(&gateway, "panic in evil_task: in a task at ", "hostile/src/panics.rs:").await;
    assert_internal(&call(&gateway, "panic_in_blocking").await);
    assert_fault(&gateway, "error in panic_in_blocking: ", "in blocking work at tests/hostile/src/panics.rs:").await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

/// Each blocked handler costs a thread: with a free one left, the others are served.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_handler_that_blocks_its_thread_does_not_stop_the_others() {
    let gateway = std::sync::Arc::new(gateway(json!({})).await);
    let blocked = tokio::spawn({
        let gateway = gateway.clone();
        async move { call(&gateway, "block").await }
    });
    let begun = Instant::now();
    for number in 1..20 {
        let one = gateway.clone();
        tokio::spawn(async move { assert_others_serve(&one, number).await }).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_millis(1800), "{:?}", begun.elapsed());
    assert_eq!(blocked.await.unwrap().status, 200);
}

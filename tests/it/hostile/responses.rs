//! Responses that cannot be sent, giant ones, and streams that break or never end.

use super::{
    assert_fault, assert_internal, assert_others_serve, assert_serving, call, gateway, last_fault, post, report, switch,
};
use http_body_util::BodyExt as _;
use plugin_testing::json;
use rstest::rstest;
use std::time::{Duration, Instant};

#[rstest]
#[case("header_name", "header \"not a name\": ")]
#[case("header_value", "header \"x-split\": ")]
#[case("header_length", "header \"content-length\": the gateway itself writes it")]
#[case("header_many", "more than 100 headers")]
#[case("large_header", "its head has ")]
#[case("giant_body", "the body has 67108864 bytes, at most 16777216")]
#[case("many_authors", "the body with its authors has 33600001 bytes, at most 16777216")]
#[case("status_99", "status 99: ")]
#[case("status_101", "status 101 ")]
#[tokio::test]
async fn an_answer_that_http_does_not_know_is_a_fault(#[case] operation: &str, #[case] said: &str) {
    let gateway = gateway(json!({})).await;
    assert_internal(&call(&gateway, operation).await);
    let fault = last_fault(&gateway).await;
    assert!(fault.starts_with(&format!("error in {operation}: the answer cannot be sent: {said}")), "{fault}");
    assert_eq!(call(&gateway, "rows").await.json(), 0, "what it wrote is rolled back");
    assert_serving(&gateway).await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_giant_stream_arrives() {
    let gateway = gateway(json!({})).await;
    let answer = call(&gateway, "giant_stream").await;
    assert_eq!((answer.status, answer.body.len()), (200, 64 << 20));
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_stream_that_breaks_at_the_start_is_an_error_answer() {
    let gateway = gateway(json!({})).await;
    assert_internal(&call(&gateway, "stream_panics_first").await);
    assert_fault(&gateway, "panic in stream_panics_first: in a stream at ", "hostile/src/responses.rs:").await;
    assert_internal(&call(&gateway, "stream_fails_first").await);
    assert_fault(&gateway, "error in stream_fails_first: ", "no first chunk").await;
    let hung = call(&gateway, "stream_hangs_first").await;
    assert_eq!((hung.status, hung.code().as_str()), (503, "timeout"), "{}", hung.text());
    assert_fault(&gateway, "timeout in stream_hangs_first after 300ms", "").await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_stream_that_breaks_later_ends_its_body_with_an_error() {
    let gateway = gateway(json!({})).await;
    let response = gateway.open_stream("GET", "/api/hostile/stream_panics_later", &[], "").await;
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    for _ in 0..2 {
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 1 << 20);
    }
    assert!(body.frame().await.unwrap().is_err());
    assert_fault(&gateway, "panic in stream_panics_later: in a stream at ", "hostile/src/responses.rs:").await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_endless_stream_ends_with_its_plugin() {
    let gateway = gateway(json!({})).await;
    let read = gateway.open_stream("GET", "/api/hostile/stream_endless", &[], "").await;
    // This one is not read: it is not polled, and so does not notice the stop.
    let leaked = gateway.open_stream("GET", "/api/hostile/stream_endless", &[], "").await;
    let reader = tokio::spawn(read.into_body().collect());
    let begun = Instant::now();
    switch(&gateway, false).await;
    // At most four waits of half a second: for requests, jobs, tasks and the plugin's `stop`.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // Not like one that is complete.
    assert_eq!(reader.await.unwrap().unwrap_err().to_string(), "the plugin was stopped");
    assert_eq!(call(&gateway, "rows").await.status, 404);
    let mut leaked = leaked.into_body();
    assert_eq!(leaked.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
    assert_eq!(leaked.frame().await.unwrap().unwrap_err().to_string(), "the plugin was stopped");
    assert!(leaked.frame().await.is_none());
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_event_with_a_line_break_too_much_in_it_or_anothers_type_is_refused() {
    let gateway = gateway(json!({})).await;
    assert_eq!(post(&gateway, "event_fine").await.status, 200);
    assert_internal(&post(&gateway, "event_newline").await);
    assert_fault(&gateway, "error in event_newline: ", "is no event type").await;
    assert_internal(&post(&gateway, "event_huge").await);
    assert_fault(&gateway, "error in event_huge: ", "the data of an event has").await;
    assert_internal(&post(&gateway, "event_of_another").await);
    assert_fault(&gateway, "error in event_of_another: ", "does not declare that it publishes \"thread.create\"").await;
    let kinds: Vec<String> = gateway.events().await.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["hostile.event"]);
    assert_eq!(report(&gateway, "hostile").await.faults, 3);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

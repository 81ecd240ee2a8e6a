//! More than there may be: the error names the bound, the operator sees it in the report, and the others are served.

use super::{
    LIMIT, assert_fault, assert_internal, assert_others_serve, assert_serving, call, gateway, last_fault, post, report,
};
use gateway_plugins::bounds::Bounds;
use http_body_util::BodyExt as _;
use plugin_testing::{TestGateway, TestResponse, Value, json};

/// On SQLite and, where there is one, on PostgreSQL.
async fn each_gateway(change: impl Fn(&mut gateway_config::Config)) -> Vec<TestGateway> {
    let builders = [Some(TestGateway::builder()), TestGateway::postgres_builder().await];
    let mut gateways = Vec::new();
    for builder in builders.into_iter().flatten() {
        let builder = builder.plugin(hello::plugin_module()).plugin(hostile::plugin_module());
        gateways.push(builder.configure(|config| config.plugins.fence_faults = 1000).configure(&change).open().await);
    }
    gateways
}

#[tokio::test]
async fn a_statement_that_asks_for_too_much_is_a_fault_that_names_the_bound() {
    for gateway in each_gateway(|_| {}).await {
        for (method, operation, reason) in [
            ("GET", "long_statement", "a statement has 1048588 bytes, at most 262144"),
            ("GET", "many_placeholders", "a statement has 32767 placeholders, at most 32766"),
            ("GET", "large_parameter", "the parameters of a call have 68157440 bytes, at most 67108864"),
            ("GET", "large_result", "the result is larger than 64 MiB: use LIMIT"),
            ("POST", "large_batch", "the parameters of a call have 68157440 bytes, at most 67108864"),
            ("POST", "many_statements", "a call has 20001 statements, at most 20000"),
            ("POST", "many_events", "more than 1000 events in a transaction"),
        ] {
            assert_internal(&gateway.send(method, &format!("/api/hostile/{operation}"), &[], "").await);
            let fault = last_fault(&gateway).await;
            assert!(fault.starts_with(&format!("error in {operation}: {reason}")), "{}: {fault}", gateway.dialect());
        }
        assert_eq!(call(&gateway, "rows").await.json(), 0, "what it wrote is rolled back");
        assert!(gateway.events().await.is_empty());
        assert_serving(&gateway).await;
        assert_others_serve(&gateway, 1).await;
        gateway.stop().await;
    }
}

/// The database is there, and says so: to the caller, and to the operator.
#[tokio::test]
async fn a_slow_statement_is_slow_and_the_database_is_not_away() {
    for gateway in each_gateway(|config| config.database.statement_timeout_ms = 300).await {
        let slow = |answer: TestResponse| {
            let problem = answer.json();
            assert_eq!((answer.status, &problem["code"]), (503, &json!("timeout")), "{problem}");
            assert_eq!(problem["error"], "the database took too long: a statement ran for more than 300ms");
            assert!(problem["hint"].as_str().unwrap().starts_with("repeat the same request"), "{problem}");
            assert_eq!(answer.header("retry-after"), "5");
        };
        slow(call(&gateway, "slow_read").await);
        slow(post(&gateway, "slow_write").await);
        assert_eq!(call(&gateway, "rows").await.json(), 0, "what it wrote is rolled back");
        assert_eq!(report(&gateway, "hostile").await.faults, 0, "a slow database is not its fault");
        let health = gateway.get("/api/health").await.json();
        assert_eq!(health["ok"], true, "{health}");
        assert_others_serve(&gateway, 1).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_contribution_that_is_too_large_is_left_out() {
    let gateway = gateway(json!({ "contribution": "flood" })).await;
    assert_eq!(gateway.get("/api/stats").await.status, 200);
    assert_fault(&gateway, "error in point stats: a contribution has 5242891 bytes, at most 4194304", "").await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn frames_that_are_too_large_are_not_sent() {
    let gateway = gateway(json!({ "contribution": "flood" })).await;
    let reader = gateway.open_stream("GET", "/api/hostile/topic", &[], "").await;
    let reader = tokio::spawn(reader.into_body().collect());
    assert_eq!(post(&gateway, "event_fine").await.status, 200);
    let said = "error in topic hostile: a page of frames has ";
    let told = async || report(&gateway, "hostile").await.last_fault.is_some_and(|fault| fault.starts_with(said));
    TestGateway::eventually(LIMIT, said, told).await;
    reader.abort();
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_chunk_that_is_too_large_ends_its_stream_with_an_error() {
    let gateway = gateway(json!({})).await;
    let mut body = gateway.open_stream("GET", "/api/hostile/large_chunk", &[], "").await.into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 1 << 20);
    assert!(body.frame().await.unwrap().is_err());
    assert_fault(&gateway, "error in large_chunk: a chunk of the stream has 5242880 bytes, at most 4194304", "").await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn tasks_beyond_the_bound_are_not_run() {
    let gateway = gateway(json!({})).await;
    assert_eq!(call(&gateway, "many_tasks").await.status, 200);
    let said = "error in a background task: one_of_many is not run: the plugin has 1000 background tasks already";
    assert_fault(&gateway, said, "").await;
    let active = gateway.gateway().active.list();
    let tasks = active.iter().find(|plugin| plugin.name() == "hostile").unwrap().handle.tasks.len();
    assert_eq!(tasks, 1000);
    drop(active);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn blocking_calls_beyond_the_bound_wait_for_their_turn() {
    let gateway = gateway(json!({})).await;
    let answer = call(&gateway, "many_blocking").await;
    assert_eq!((answer.status, answer.json()), (200, json!(16)), "{}", answer.text());
    assert_eq!(report(&gateway, "hostile").await.faults, 0);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_message_of_a_megabyte_is_cut() {
    let gateway = gateway(json!({})).await;
    assert_internal(&post(&gateway, "long_message").await);
    let fault = last_fault(&gateway).await;
    assert!(fault.starts_with("panic in long_message: xxx") && fault.len() < 4200, "{} bytes", fault.len());
    gateway.stop().await;
}

#[test]
fn the_document_has_the_bounds_of_the_report() {
    let document = include_str!("../../../docs/containment.md");
    let bounds: Value = serde_json::to_value(Bounds::default()).unwrap();
    let lacking = bounds
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, value)| !document.contains(&format!("| `{name}` | {value} |")));
    assert_eq!(lacking.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// The operator's list.
#[tokio::test]
async fn the_report_names_the_bounds() {
    let gateway = gateway(json!({})).await;
    let bounds: Value = serde_json::to_value(report(&gateway, "hostile").await.bounds).unwrap();
    assert_eq!(bounds, serde_json::to_value(Bounds::default()).unwrap());
    assert_eq!((&bounds["response_body_bytes"], &bounds["call_rows_bytes"]), (&json!(16 << 20), &json!(64 << 20)));
    gateway.stop().await;
}

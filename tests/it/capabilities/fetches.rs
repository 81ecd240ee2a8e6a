//! Fetches with JSON, and the reasons why one fails.

use super::post;
use plugin_testing::{TestGateway, Value, json};
use std::time::Duration;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_json, header, method, path},
};

async fn neighbour() -> MockServer {
    let server = MockServer::start().await;
    let reply = ResponseTemplate::new(201).insert_header("x-shelf", "7").set_body_json(json!({ "number": 3 }));
    let asked = Mock::given(method("POST")).and(path("/count")).and(header("content-type", "application/json"));
    asked.and(body_json(json!({ "text": "how many?" }))).respond_with(reply).mount(&server).await;
    for (at, response) in [
        ("/slow", ResponseTemplate::new(200).set_delay(Duration::from_secs(5))),
        ("/text", ResponseTemplate::new(200).set_body_string("three")),
        ("/large", ResponseTemplate::new(200).set_body_string("x".repeat(100))),
        ("/gone", ResponseTemplate::new(410)),
        ("/moved", ResponseTemplate::new(302).insert_header("location", "/count")),
    ] {
        Mock::given(path(at)).respond_with(response).mount(&server).await;
    }
    server
}

#[tokio::test]
async fn json_goes_out_and_comes_in_and_each_failure_has_its_type() {
    let server = neighbour().await;
    let host = server.address().to_string();
    let builder = TestGateway::builder().plugin(keeper::plugin_module());
    let gateway = builder
        .configure(|config| config.egress.allow_hosts = vec![host.clone(), "127.0.0.1:9".to_owned()])
        .start()
        .await;
    let run = async |errand: Value| post(&gateway, "/api/keeper/errands", errand).await.json();
    let url = |path: &str| json!({ "url": format!("http://{host}{path}") });

    assert_eq!(run(url("/count")).await, json!({ "status": 201, "shelf": "7", "number": 3 }));
    let with = |path: &str, name: &str, value: Value| {
        let mut errand = url(path);
        errand[name] = value;
        errand
    };
    for (errand, kind, part) in [
        (url("/gone"), "status", "410"),
        (url("/moved"), "status", "302"),
        (url("/text"), "json", "expected"),
        (url("/slow"), "timeout", "1000 ms"),
        (with("/large", "bytes_max", json!(99)), "too_large", "99 bytes"),
        (with("/count", "method", json!("GE T")), "invalid", "method"),
        (json!({ "url": "http://127.0.0.1:1/" }), "refused", "not public"),
        (json!({ "url": "ftp://example.com/" }), "refused", "only http"),
        (json!({ "url": "http://127.0.0.1:9/" }), "connect", "no connection"),
    ] {
        let failed = run(errand.clone()).await;
        assert_eq!(failed["error"], kind, "{errand}: {failed}");
        assert!(failed["text"].as_str().unwrap().contains(part), "{errand}: {failed}");
    }
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

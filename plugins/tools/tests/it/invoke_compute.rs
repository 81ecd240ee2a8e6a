//! `POST /api/compute/{id}/invoke`. What is forwarded and how is tested with agents: plugins/a2a/tests/it/invoke_agent.rs.

use super::{COMPUTE, TOOLS, compute, finish, gateways, gateways_reaching_localhost, next, publish, tool, with};
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

const LIMIT: Duration = Duration::from_secs(60);

async fn provider(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/rack/invoke")).respond_with(answer).mount(&server).await;
    server
}

async fn calls(server: &MockServer) -> Vec<Request> {
    let requests = server.received_requests().await.unwrap();
    requests.into_iter().filter(|request| request.method == "POST").collect()
}

/// A listing that costs nothing.
fn free_at(server: &MockServer) -> Value {
    with(compute("rack"), json!({ "endpoint": format!("{}/rack", server.uri()), "pricePerSecond": "0" }))
}

async fn invoke(gateway: &TestGateway, id: &Value, query: &str, headers: &[(&str, &str)]) -> TestResponse {
    gateway.send("POST", &format!("{COMPUTE}/{id}/invoke{query}"), headers, "{\"job\":1}").await
}

fn refusal(response: &TestResponse) -> (u16, String) {
    assert!(response.json()["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{}", response.text());
    (response.status, response.code())
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn the_provider_is_called_with_the_seconds_and_nothing_of_the_caller() {
    let server = provider(ResponseTemplate::new(201).set_body_json(json!({ "result": "r-1" }))).await;
    for gateway in gateways_reaching_localhost().await {
        let id = publish(&gateway, &Wallet::new(1), free_at(&server)).await["id"].clone();
        let headers = [("authorization", "secret"), ("payment", "e30="), ("content-type", "application/json")];
        let response = invoke(&gateway, &id, "?seconds=60", &headers).await;
        assert_eq!((response.status, response.json()), (201, json!({ "result": "r-1" })));
        let call = calls(&server).await.pop().unwrap();
        assert_eq!((call.url.path(), call.url.query()), ("/rack/invoke", Some("seconds=60")));
        assert_eq!(call.body, b"{\"job\":1}");
        assert_eq!(
            (&call.headers["x-service-hop"], &call.headers["user-agent"]),
            (&"1".parse().unwrap(), &"service-gateway/invoke".parse().unwrap())
        );
        assert!(!call.headers.contains_key("authorization") && !call.headers.contains_key("payment"));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_second_of_compute_needs_somebody_who_takes_payments() {
    let server = provider(ResponseTemplate::new(200)).await;
    for gateway in gateways_reaching_localhost().await {
        let priced = with(free_at(&server), json!({ "pricePerSecond": "1000" }));
        let id = publish(&gateway, &Wallet::new(1), priced).await["id"].clone();
        for seconds in [1, 3600] {
            let response = invoke(&gateway, &id, &format!("?seconds={seconds}"), &[]).await;
            assert_eq!(refusal(&response), is(503, "disabled"));
        }
        assert!(calls(&server).await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn seconds_are_1_to_3600() {
    let server = provider(ResponseTemplate::new(200)).await;
    for gateway in gateways_reaching_localhost().await {
        let id = publish(&gateway, &Wallet::new(1), free_at(&server)).await["id"].clone();
        for query in ["?seconds=1", "?seconds=3600"] {
            assert_eq!(invoke(&gateway, &id, query, &[]).await.status, 200, "{query}");
        }
        for (query, code) in [
            ("?seconds=0", "bad_request"),
            ("?seconds=3601", "bad_request"),
            ("?seconds=18446744073709551615", "bad_request"),
            ("", "bad_query"),
            ("?seconds=", "bad_query"),
            ("?seconds=-1", "bad_query"),
            ("?seconds=1.5", "bad_query"),
            ("?seconds=x", "bad_query"),
        ] {
            assert_eq!(refusal(&invoke(&gateway, &id, query, &[]).await), is(400, code), "{query}");
        }
        assert_eq!(calls(&server).await.len() % 2, 0, "two calls on each database");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_tool_of_another_kind_is_no_compute() {
    for gateway in gateways().await {
        let other = publish(&gateway, &Wallet::new(1), tool("one")).await["id"].clone();
        for id in [other, json!(999_999)] {
            assert_eq!(refusal(&invoke(&gateway, &id, "?seconds=1", &[]).await), is(404, "not_found"));
        }
        assert_eq!(gateway.send("POST", &format!("{COMPUTE}/x/invoke?seconds=1"), &[], "").await.status, 404);
        assert_eq!(gateway.send("POST", &format!("{TOOLS}/1/invoke?seconds=1"), &[], "").await.status, 404);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_called_has_the_status_of_the_cause() {
    let server = provider(ResponseTemplate::new(302).insert_header("location", "/elsewhere")).await;
    for gateway in gateways_reaching_localhost().await {
        let owner = Wallet::new(1);
        let id = publish(&gateway, &owner, free_at(&server)).await["id"].clone();
        assert_eq!(refusal(&invoke(&gateway, &id, "?seconds=1", &[]).await), is(502, "bad_answer"));
        assert_eq!(refusal(&invoke(&gateway, &id, "?seconds=1", &[("x-service-hop", "1")]).await), is(508, "loop"));
        for (endpoint, status, code) in
            [("http://127.0.0.1:1/rack", 504, "unreachable"), ("http://127.0.0.1:8080/rack", 502, "own_endpoint")]
        {
            next(&gateway).await;
            let id =
                publish(&gateway, &owner, with(free_at(&server), json!({ "endpoint": endpoint }))).await["id"].clone();
            assert_eq!(refusal(&invoke(&gateway, &id, "?seconds=1", &[]).await), is(status, code), "{endpoint}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn calls_of_one_listing_are_limited() {
    let server = provider(ResponseTemplate::new(200).set_delay(Duration::from_secs(2))).await;
    let builder = TestGateway::builder().configure(|config| config.egress.allow_hosts = vec!["127.0.0.1".to_owned()]);
    let builder = builder.plugin(tools::plugin_module()).config("tools", json!({ "calls_per_listing_max": 1 }));
    let gateway = builder.start().await;
    let id = publish(&gateway, &Wallet::new(1), free_at(&server)).await["id"].clone();
    let second = async {
        TestGateway::eventually(LIMIT, "a call waits", async || !calls(&server).await.is_empty()).await;
        invoke(&gateway, &id, "?seconds=1", &[]).await
    };
    let (first, second) = futures_util::future::join(invoke(&gateway, &id, "?seconds=1", &[]), second).await;
    assert_eq!((first.status, refusal(&second)), (200, is(503, "provider_busy")));
    assert_eq!(second.headers["retry-after"], "5");
    finish(gateway).await;
}

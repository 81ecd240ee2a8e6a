//! `POST /a/{slug}/a2a`: dialects, results and errors. Jobs have a file of their own.

use super::{Site, agent_server, calls, is, refusal, script::registered, serve, sites};
use plugin_testing::{TestResponse, Value, json};
use wiremock::{MockServer, ResponseTemplate};

async fn site_of(server: &MockServer) -> Vec<Site> {
    sites(registered(1, 7, "Miner", &server.uri())).await
}

fn send(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": "r-1", "method": method, "params": params })
}

fn hello() -> Value {
    json!({ "message": { "role": "user", "messageId": "m-1", "parts": [{ "kind": "text", "text": "Hello" }] } })
}

/// The result of a good response.
fn result(response: &TestResponse) -> Value {
    let body = response.json();
    assert_eq!((response.status, &body["jsonrpc"], &body["id"]), (200, &json!("2.0"), &json!("r-1")), "{body}");
    assert!(body.get("error").is_none(), "{body}");
    assert_eq!(response.headers["content-type"], "application/json");
    body["result"].clone()
}

/// HTTP status and code of an error of JSON-RPC.
fn error(response: &TestResponse) -> (u16, i64) {
    let body = response.json();
    assert_eq!(body["jsonrpc"], "2.0", "{body}");
    assert!(
        body.get("result").is_none() && body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()),
        "{body}"
    );
    (response.status, body["error"]["code"].as_i64().unwrap())
}

#[tokio::test]
async fn each_method_is_answered_in_its_dialect() {
    let server = agent_server(ResponseTemplate::new(200).set_body_json(json!({ "sum": 3 }))).await;
    for site in site_of(&server).await {
        let params = json!({ "id": "mine", "sessionId": "s", "message": { "role": "user", "parts": [{ "type": "text", "text": "1+2" }] } });
        let task = result(&site.rpc("1", &send("tasks/send", params)).await);
        assert_eq!(
            (&task["id"], &task["sessionId"], &task["status"]["state"]),
            (&json!("mine"), &json!("s"), &json!("completed"))
        );
        assert_eq!(task["artifacts"][0]["parts"], json!([{ "type": "data", "data": { "sum": 3 } }]));
        assert_eq!(task["metadata"], json!({ "agentId": 1 }));
        let call: Value = serde_json::from_slice(&calls(&server).await.pop().unwrap().body).unwrap();
        assert_eq!(call, json!({ "taskId": "mine", "text": "1+2", "parts": [{ "type": "text", "text": "1+2" }] }));

        let task = result(&site.rpc("miner", &send("message/send", hello())).await);
        assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
        assert_eq!(task["artifacts"][0]["parts"], json!([{ "kind": "data", "data": { "sum": 3 } }]));
        assert_eq!(task["history"][0]["messageId"], "m-1");
        assert!(task["id"].as_str().is_some_and(|id| id.starts_with("task-")) && task["contextId"].is_string());

        let params = json!({ "message": { "role": "ROLE_USER", "messageId": "m", "parts": [{ "text": "1+2" }, { "data": [1, 2] }] } });
        let task = result(&site.rpc("1", &send("SendMessage", params)).await)["task"].clone();
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(task["artifacts"][0]["parts"], json!([{ "data": { "sum": 3 } }]));
        let call: Value = serde_json::from_slice(&calls(&server).await.pop().unwrap().body).unwrap();
        assert_eq!((&call["text"], &call["data"], &call["taskId"]), (&json!("1+2"), &json!([1, 2]), &task["id"]));
        site.close().await;
    }
}

#[tokio::test]
async fn the_agent_gets_json_with_the_headers_of_a_call() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        let headers =
            [("content-type", "application/json; charset=utf-8"), ("a2a-version", "1.0"), ("authorization", "x")];
        let body = send("message/send", hello()).to_string();
        assert_eq!(site.gateway.send("POST", "/a/1/a2a", &headers, body).await.status, 200);
        let call = calls(&server).await.pop().unwrap();
        assert_eq!(call.headers["content-type"], "application/json");
        assert_eq!(
            (&call.headers["x-service-agent-id"], &call.headers["x-service-hop"]),
            (&"1".parse().unwrap(), &"1".parse().unwrap())
        );
        for absent in ["authorization", "a2a-version", "x-service-job-id", "x-service-payer"] {
            assert!(!call.headers.contains_key(absent), "{absent}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn what_is_no_json_object_is_text() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        for (answer, text) in [("done", "done"), ("[1,2]", "[1,2]"), ("\"x\"", "\"x\""), ("", "")] {
            serve(&server, ResponseTemplate::new(200).set_body_string(answer)).await;
            let task = result(&site.rpc("1", &send("message/send", hello())).await);
            assert_eq!(task["artifacts"][0]["parts"], json!([{ "kind": "text", "text": text }]));
        }
        serve(&server, ResponseTemplate::new(200).set_body_bytes(b"a\xff")).await;
        let task = result(&site.rpc("1", &send("message/send", hello())).await);
        assert_eq!(task["artifacts"][0]["parts"][0]["text"], "a\u{fffd}");
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_fails_is_a_failed_task() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        for status in [400, 402, 404, 429, 500, 503] {
            serve(&server, ResponseTemplate::new(status).set_body_string("x".repeat(3000))).await;
            let task = result(&site.rpc("1", &send("tasks/send", hello())).await);
            assert_eq!((&task["status"]["state"], &task["artifacts"]), (&json!("failed"), &json!([])));
            let message = &task["status"]["message"];
            assert_eq!(
                (&message["role"], message["parts"][0]["text"].as_str().unwrap().len()),
                (&json!("agent"), 2000)
            );
            // Nothing was paid, so nothing was released.
            assert_eq!(task["metadata"], json!({ "agentId": 1, "upstreamStatus": status, "paymentReleased": false }));
        }
        let task = result(&site.rpc("1", &send("SendMessage", hello())).await)["task"].clone();
        assert_eq!(
            (&task["status"]["state"], &task["status"]["message"]["role"]),
            (&json!("TASK_STATE_FAILED"), &json!("ROLE_AGENT"))
        );
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_cannot_be_called_is_an_error_with_the_status_of_the_cause() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let logs = [
        registered(1, 7, "Miner", &server.uri()),
        registered(2, 7, "gone", "http://127.0.0.1:1"),
        registered(3, 7, "none", ""),
        registered(4, 7, "self", "http://127.0.0.1:8080/a/4"),
    ];
    for site in sites(logs.concat()).await {
        for (name, status, code) in [
            ("99", 404, "not_found"),
            ("nobody", 404, "not_found"),
            ("2", 504, "unreachable"),
            ("3", 502, "bad_endpoint"),
            ("4", 502, "own_endpoint"),
        ] {
            let response = site.rpc(name, &send("message/send", hello())).await;
            assert_eq!(error(&response), (status, -32000), "{name}");
            let body = response.json();
            assert_eq!((&body["error"]["data"]["code"], &body["id"]), (&json!(code), &json!("r-1")));
        }
        let headers = [("x-service-hop", "1")];
        let response = site.gateway.send("POST", "/a/1/a2a", &headers, send("message/send", hello()).to_string()).await;
        assert_eq!(error(&response), (508, -32000));
        for (answer, status) in [
            (ResponseTemplate::new(200).set_body_bytes(vec![b'x'; 1024 * 1024 + 1]), 502),
            (ResponseTemplate::new(302).insert_header("location", "http://127.0.0.1:1/"), 502),
            (ResponseTemplate::new(200).insert_header("content-encoding", "gzip").set_body_bytes(b"\x1f\x8b"), 502),
        ] {
            serve(&server, answer).await;
            assert_eq!(error(&site.rpc("1", &send("message/send", hello())).await), (status, -32000));
        }
        site.close().await;
    }
}

#[tokio::test]
async fn errors_are_those_of_json_rpc_and_a2a() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        for (body, expected) in [
            ("", (400, -32700)),
            ("{", (400, -32700)),
            ("[1]", (400, -32600)),
            ("7", (400, -32600)),
            ("{}", (200, -32600)),
            (r#"{"jsonrpc":"2.0","id":{"bad":"type"},"method":"message/send"}"#, (200, -32600)),
        ] {
            let response = site.gateway.send("POST", "/a/1/a2a", &[("content-type", "application/json")], body).await;
            assert_eq!((error(&response), &response.json()["id"]), (expected, &Value::Null), "{body}");
        }
        for (method, params, code) in [
            ("tasks/unknown", json!({}), -32601),
            ("message/send", json!({ "": "x" }), -32602),
            ("message/send", json!({ "message": { "role": "user", "parts": [] } }), -32602),
            ("message/send", json!({ "message": { "role": "user", "parts": "x" } }), -32602),
            (
                "message/send",
                json!({ "message": { "parts": [{ "text": "x" }] }, "metadata": { "jobId": "x" } }),
                -32602,
            ),
            ("message/send", json!({ "message": { "parts": [{ "text": "x" }], "taskId": "task-1" } }), -32001),
            ("tasks/get", json!({ "id": "task-1" }), -32001),
            ("GetTask", json!({ "id": "nobody-has-it" }), -32001),
            ("tasks/cancel", json!({ "id": "task-1" }), -32001),
            ("tasks/pushNotificationConfig/set", json!({}), -32003),
            ("message/stream", hello(), -32004),
            ("ListTasks", json!({}), -32004),
        ] {
            assert_eq!(error(&site.rpc("1", &send(method, params)).await), (200, code), "{method}");
        }
        let body = || send("message/send", hello()).to_string();
        let of = async |headers: &[(&str, &str)]| error(&site.gateway.send("POST", "/a/1/a2a", headers, body()).await);
        assert_eq!(of(&[("content-type", "text/plain")]).await, (200, -32005));
        assert_eq!(of(&[("a2a-version", "9.9")]).await, (200, -32009));
        assert!(calls(&server).await.is_empty());
        site.close().await;
    }
}

#[tokio::test]
async fn the_envelope_is_checked_before_the_price() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let endpoint = server.uri();
    for site in sites(registered(1, 7, "Miner", &endpoint)).await {
        site.store_card(1, &endpoint, &json!({ "service": 1, "pricePerCall": "12" })).await;
        // Nobody takes payments here.
        for method in ["tasks/send", "message/send", "SendMessage"] {
            assert_eq!(refusal(&site.rpc("1", &send(method, hello())).await), is(503, "disabled"), "{method}");
        }
        // What is no message costs nothing.
        for (request, expected) in [
            (send("message/send", json!({})), (200, -32602)),
            (send("tasks/unknown", hello()), (200, -32601)),
            (send("tasks/get", json!({ "id": "task-1" })), (200, -32001)),
            (json!([]), (400, -32600)),
        ] {
            assert_eq!(error(&site.rpc("1", &request).await), expected, "{request}");
        }
        site.store_card(1, &endpoint, &json!({ "service": 1, "pricePerCall": "1.5" })).await;
        let response = site.rpc("1", &send("message/send", hello())).await;
        assert_eq!(
            (error(&response), response.json()["error"]["data"]["code"].as_str()),
            ((503, -32000), Some("price_unavailable"))
        );
        assert_eq!(response.headers["retry-after"], "5");
        assert!(calls(&server).await.is_empty());
        site.close().await;
    }
}

//! Sends every body of the torture list to every route that takes a JSON body. The records that the path names exist.

use super::{
    abuse::ask,
    torture::{list, request},
};
use crate::{
    all_plugins,
    e2e::{Site, in_time},
    openapi,
};
use gateway_clock::Clock;
use plugin_testing::Value;
use std::collections::BTreeSet;

/// Any body is a valid payload there, or an agent's own; JSON-RPC has errors of its own, which plugins/a2a/src/model/rpc_request.rs tests.
const OTHER_BODIES: [&str; 5] = ["store_payload", "invoke_agent", "invoke_compute", "call_a2a", "call_rpc"];

/// They are off here, for want of a key: 503, once the body is JSON.
const OFF: [&str; 3] = ["/api/accounts/create", "/api/faucet", "/api/relay"];

/// Method and path of every operation that takes a JSON body, as its right call has them: all that a path names exists, because a
/// route looks for its parent row before it reads the body.
fn writing_routes(document: &Value) -> BTreeSet<(String, String)> {
    let takes_json = |operation: &Value| operation["requestBody"]["content"]["application/json"].is_object();
    let operations = openapi::operations(document).into_iter().filter(|(_, _, operation)| takes_json(operation));
    let names = operations.map(|(_, _, operation)| operation["operationId"].as_str().unwrap().to_owned());
    let names: BTreeSet<String> = names.filter(|name| !OTHER_BODIES.contains(&name.as_str())).collect();
    let calls = all_plugins::calls(Clock::System.now_s()).into_iter().filter(|call| names.contains(call.operation));
    let calls: Vec<_> = calls.collect();
    assert_eq!(calls.iter().map(|call| call.operation.to_owned()).collect::<BTreeSet<_>>(), names, "each has a call");
    calls.into_iter().map(|call| (call.method, call.path)).collect()
}

/// Status and body of an answer that was read to its end.
fn parse(answer: &[u8]) -> (u16, Value) {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    assert!(head.contains("x-request-id: "), "{head}");
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {body}")))
}

#[tokio::test]
async fn every_torture_body_is_one_clear_4xx_on_every_route_that_writes() {
    let chain = all_plugins::chain().await;
    let setup = all_plugins::setup(&chain).set("limits.allow", "127.0.0.0/8");
    let gateway = all_plugins::start_with_content(&setup).await;
    let site = Site::of(&gateway);
    let routes = writing_routes(&site.get("/api/openapi.json").await.json());
    assert!(routes.len() >= 17, "{routes:?}");
    let address = gateway.address().parse().unwrap();
    let bodies = list();
    for (method, path) in &routes {
        for (name, body) in &bodies {
            let case = format!("{method} {path}: {name}");
            let (status, error) = parse(&in_time(ask(address, &request(method, path, body))).await);
            let expected: &[u16] = match name.as_bytes()[0] {
                b'n' => &[400, 413],
                _ if OFF.contains(&path.as_str()) => &[400, 413, 503],
                // JSON, but no signed request.
                _ => &[400, 401, 413],
            };
            // 404 would say that the body was not read.
            assert!(expected.contains(&status), "{case}: {status} {error}");
            for member in ["error", "code", "hint"] {
                assert!(error[member].as_str().is_some_and(|text| !text.is_empty()), "{case}: {error}");
            }
        }
        assert_eq!(site.get("/api/health").await.status, 200, "after {path}");
    }
    all_plugins::assert_no_faults(&gateway).await;
}

//! Every body of the torture list, to every route that takes one.

use super::{
    abuse::ask,
    torture::{list, request},
};
use crate::e2e::{Site, in_time, setup};
use plugin_testing::{Value, Wallet};

/// Method and path of every operation that writes, with parameters that lead to what is there.
async fn writing_routes(site: &Site) -> Vec<(String, String)> {
    let thread = site.open_thread(&Wallet::new(1), "The one that is written to").await;
    let document = site.get("/api/openapi.json").await.json();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys().filter(|method| matches!(method.as_str(), "post" | "put"))
        {
            let path = path.replace("{id}", &thread.to_string()).replace("{slug}", "a-page");
            assert!(!path.contains('{'), "{path}: what is its parameter?");
            // Whatever it is, it is a payload.
            if path != "/api/payloads" {
                routes.push((method.to_uppercase(), path));
            }
        }
    }
    routes
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
    let gateway = setup().set("limits.allow", "127.0.0.0/8").start().await.unwrap();
    let site = Site::of(&gateway);
    let routes = writing_routes(&site).await;
    assert!(routes.len() >= 4, "{routes:?}");
    let address = gateway.address().parse().unwrap();
    for (method, path) in &routes {
        for (name, body) in list() {
            let case = format!("{method} {path}: {name}");
            let (status, error) = parse(&in_time(ask(address, &request(method, path, &body))).await);
            let expected: &[u16] = match name.as_bytes()[0] {
                // Nothing but the thread is there: of the rest it may be said first.
                _ if path.contains("/1") && !path.starts_with("/api/forum") => &[400, 401, 404, 413],
                b'n' => &[400, 413],
                // JSON, but no signed request.
                _ => &[400, 401, 413],
            };
            assert!(expected.contains(&status), "{case}: {status} {error}");
            for member in ["error", "code", "hint"] {
                assert!(error[member].as_str().is_some_and(|text| !text.is_empty()), "{case}: {error}");
            }
        }
        assert_eq!(site.get("/api/health").await.status, 200, "after {path}");
    }
    let log = gateway.setup().log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "an error is in the log");
}

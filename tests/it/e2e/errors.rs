//! Errors of every layer have the one error body, with a hint, and the headers of every response.

use super::{
    setup, setup_with_all_plugins,
    site::{Site, THREADS, answer, posts_of, signed},
};
use bytes::Bytes;
use gateway_tests::process::{GatewayProcess, LIMIT};
use http::HeaderMap;
use plugin_testing::{TestResponse, Wallet, json};
use reqwest::Method;
use std::time::{Duration, Instant};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The shape of every error, of any layer.
#[track_caller]
fn assert_error(answer: &TestResponse, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    let body = answer.json();
    for member in ["error", "code", "hint"] {
        assert!(body[member].as_str().is_some_and(|text| !text.is_empty()), "{member} is missing in {body}");
    }
    assert_eq!(body.as_object().unwrap().len(), 3, "{body}");
    assert_common_headers(answer);
}

#[track_caller]
fn assert_common_headers(answer: &TestResponse) {
    assert!(!answer.header("x-request-id").is_empty(), "{:?}", answer.headers);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

/// Sends bytes as they are and reads until the gateway hangs up.
async fn raw(gateway: &GatewayProcess, request: &str) -> TestResponse {
    let mut socket = TcpStream::connect(gateway.address()).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(LIMIT, socket.read_to_end(&mut answer)).await.expect("the gateway hangs up").unwrap();
    let text = String::from_utf8(answer).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        headers.insert(http::HeaderName::try_from(name).unwrap(), value.parse().unwrap());
    }
    TestResponse { status, headers, body: Bytes::from(body.to_owned()) }
}

#[tokio::test]
async fn what_is_not_there() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    for path in ["/nothing", "/api/nothing", "/api/forum/threads/1/2", "/../etc/passwd"] {
        assert_error(&site.get(path).await, 404, "not_found");
    }
    assert_error(&site.get(&format!("{THREADS}/999")).await, 404, "not_found");
    // A missing parent is reported before signature and body are checked.
    assert_error(&site.post(&posts_of(999), &json!("no object")).await, 404, "not_found");
}

#[tokio::test]
async fn a_method_that_a_route_does_not_have() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    for (method, path, allowed) in [
        (Method::PUT, THREADS, vec!["GET", "POST"]),
        (Method::DELETE, "/api", vec!["GET"]),
        (Method::GET, "/api/forum/threads/1/posts", vec!["POST"]),
    ] {
        let refused = answer(site.request(method.clone(), path)).await;
        assert_error(&refused, 405, "method_not_allowed");
        let allow: Vec<&str> = refused.header("allow").split(", ").collect();
        assert!(allowed.iter().all(|method| allow.contains(method)), "{method} {path}: {allow:?}");
        assert!(!allow.contains(&method.as_str()), "{method} {path}: {allow:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_request() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    for body in ["", "{", "[]", "null", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud800\"}", "{\"a\":1e999}", "\u{feff}{}"] {
        let refused = answer(site.request(Method::POST, THREADS).body(body)).await;
        assert_error(&refused, 400, "bad_request");
    }
    let wrong_type = site.write(THREADS, &Wallet::new(1), "thread.create", json!({ "title": 5, "body": "B" })).await;
    assert_error(&wrong_type, 400, "bad_request");
}

#[tokio::test]
async fn a_signature_that_is_none() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let good = signed(&Wallet::new(1), "thread.create", &json!({ "title": "T", "body": "B" }));
    for (member, value, code) in [
        ("address", json!(null), "bad_address"),
        ("address", json!("0x1"), "bad_address"),
        ("ts", json!("soon"), "bad_ts"),
        ("ts", json!(1), "stale_ts"),
        ("sig", json!("0x00"), "bad_sig"),
        ("title", json!("Another"), "sig_mismatch"),
    ] {
        let mut body = good.clone();
        body[member] = value;
        assert_error(&site.post(THREADS, &body).await, 401, code);
    }
    let other_action = signed(&Wallet::new(1), "post.create", &json!({ "title": "T", "body": "B" }));
    assert_error(&site.post(THREADS, &other_action).await, 401, "sig_mismatch");
}

#[tokio::test]
async fn a_body_that_is_too_large() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let huge = json!({ "title": "T", "body": "x".repeat(300_000) });
    assert_error(&site.post(THREADS, &huge).await, 413, "too_large");
    // Below the limit of the gateway, above that of the forum.
    let large = json!({ "title": "T", "body": "x".repeat(20_000) });
    assert_error(&site.write(THREADS, &Wallet::new(1), "thread.create", large).await, 413, "too_large");
}

#[tokio::test]
async fn a_body_that_does_not_come() {
    let gateway = setup().set("http.body_timeout_ms", 300).start().await.unwrap();
    let head = format!("POST {THREADS} HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\n{{");
    assert_error(&raw(&gateway, &head).await, 408, "body_timeout");
}

/// When refusals are delayed, only the refused client waits.
#[tokio::test]
async fn a_client_that_repeats_at_once_what_is_refused() {
    let setup = setup().unset("limits.allow").set("limits.per_ip_per_minute", 1).set("http.tarpit_ms", 1500);
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get(THREADS).await.status, 200);
    let begun = Instant::now();
    assert_error(&site.get(THREADS).await, 429, "rate_limited");
    assert!(begun.elapsed() >= Duration::from_millis(1500));
}

#[tokio::test]
async fn a_client_that_calls_too_often() {
    let setup = setup().unset("limits.allow").set("limits.per_ip_per_minute", 3);
    let gateway = setup.set("limits.commons_writes_per_ip_per_minute", 2).start().await.unwrap();
    let site = Site::of(&gateway);
    for number in 1..=2 {
        site.open_thread(&Wallet::new(number), "T").await;
    }
    let write = site.write(THREADS, &Wallet::new(3), "thread.create", json!({ "title": "T", "body": "B" })).await;
    assert_error(&write, 429, "ip_rate_limited");
    assert_eq!(write.json()["error"], "at most 2 calls in any 60 s from one address");
    assert_eq!(write.header("ratelimit-policy"), "\"commons_writes\";q=2;w=60");
    assert!((1..=60).contains(&write.header("retry-after").parse::<u64>().unwrap()));

    let mut last = site.get(THREADS).await;
    for _ in 0..3 {
        last = site.get(THREADS).await;
    }
    assert_error(&last, 429, "rate_limited");
    assert_eq!(last.json()["error"], "at most 3 calls in any 60 s from one address");
    let retry_after = last.header("retry-after").to_owned();
    assert!((1..=60).contains(&retry_after.parse::<u64>().unwrap()));
    assert_eq!(last.header("ratelimit"), format!("\"ip\";r=0;t={retry_after}"));
    assert_eq!(last.header("ratelimit-policy"), "\"ip\";q=3;w=60");
}

/// Searches cost more than other reads: they have a limit of their own over all lists.
#[tokio::test]
async fn a_client_that_searches_too_often() {
    let setup = setup_with_all_plugins().unset("limits.allow").set("limits.searches_per_ip_per_minute", 2);
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get(&format!("{THREADS}?q=a")).await.header("ratelimit-policy"), "\"search\";q=2;w=60");
    assert_eq!(site.get("/api/artifacts?limit=1&%71=b").await.status, 200);
    for path in [&format!("{THREADS}?q=a"), "/api/tools?q=c", "/api/kb?%71=d"] {
        assert_error(&site.get(path).await, 429, "rate_limited");
    }
    for path in [THREADS, "/api/tools?q=", "/api/artifacts?limit=1"] {
        assert_eq!(site.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_read() {
    let gateway = setup().set("http.header_read_timeout_ms", 300).start().await.unwrap();
    let many = format!("GET /api HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(1000));
    let long = format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "x".repeat(100_000));
    for (request, status, code) in [
        ("\0\r\n\r\n", 400, "bad_request_line"),
        ("\x16\x03\x01\x02", 400, "tls"),
        ("GET /api HTTP/3.0\r\nhost: a\r\n\r\n", 400, "bad_version"),
        ("GET /api HTTP/1.1\r\nho st: a\r\n\r\n", 400, "bad_header"),
        ("GET /api HTTP/1.1\nhost: a\n\n", 400, "bad_framing"),
        ("GET /api HTTP/1.1\r\nhost: a\r\n", 408, "head_timeout"),
        (&many, 431, "head_too_large"),
        (&long, 414, "target_too_long"),
    ] {
        assert_error(&raw(&gateway, request).await, status, code);
    }
}

#[tokio::test]
async fn a_request_without_a_host_or_with_two() {
    let gateway = setup().start().await.unwrap();
    for host in ["", "host: a\r\nhost: b\r\n", "host: a b\r\n"] {
        let refused = raw(&gateway, &format!("GET /api HTTP/1.1\r\n{host}connection: close\r\n\r\n")).await;
        assert_eq!(refused.status, 400, "{host:?}: {}", refused.text());
        let code = refused.code();
        assert_error(&refused, 400, &code);
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    site.open_thread(&Wallet::new(1), "T").await;
    for path in [THREADS, "/api", "/docs", "/llms.txt", "/api/nothing"] {
        let (get, head) = (site.get(path).await, answer(site.request(Method::HEAD, path)).await);
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for name in ["content-type", "cache-control", "etag", "access-control-allow-origin"] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
        assert_common_headers(&head);
    }
}

#[tokio::test]
async fn a_browser_may_ask_before_it_sends() {
    let gateway = setup().start().await.unwrap();
    let preflight = Site::of(&gateway)
        .request(Method::OPTIONS, THREADS)
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,x-service-sig,last-event-id");
    let allowed = answer(preflight).await;
    assert_eq!(allowed.status, 204, "{}", allowed.text());
    assert!(allowed.header("access-control-allow-methods").contains("POST"));
    assert_eq!(allowed.header("access-control-allow-headers"), "content-type,x-service-sig,last-event-id");
    assert_common_headers(&allowed);
}

#[tokio::test]
async fn options_tells_the_methods_of_a_route() {
    let gateway = setup().start().await.unwrap();
    let told = answer(Site::of(&gateway).request(Method::OPTIONS, THREADS)).await;
    assert_eq!((told.status, told.header("allow")), (204, "GET, POST, HEAD, OPTIONS"), "{}", told.text());
    assert_common_headers(&told);
}

#[tokio::test]
async fn a_request_keeps_the_id_that_its_caller_gave_it() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let named = answer(site.request(Method::GET, "/api/nothing").header("x-request-id", "my-request_1")).await;
    assert_eq!(named.header("x-request-id"), "my-request_1");
    let forged = answer(site.request(Method::GET, "/api/nothing").header("x-request-id", "a b")).await;
    assert_ne!(forged.header("x-request-id"), "a b");
    assert_common_headers(&forged);
}

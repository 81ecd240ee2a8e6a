//! Which requests a plugin may send, and how they look on the wire.

use rstest::rstest;

use super::fixture::*;
use crate::{EgressError, FetchRequest};

async fn refused(method: &str, headers: &[(&str, &str)]) -> EgressError {
    let mut request = FetchRequest::new(method, "http://fixture.test/");
    request.headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let resolver = ScriptedResolver::new(&[("fixture.test", &[&["8.8.8.8"]])]);
    let error = egress_with(settings(&[]), &resolver).fetch("hello", request).await.unwrap_err();
    assert!(resolver.resolved().is_empty(), "refused before anything happens");
    error
}

#[rstest]
#[case("Host", "evil.test")]
#[case("hOST", "evil.test")]
#[case("Content-Length", "0")]
#[case("Transfer-Encoding", "chunked")]
#[case("Connection", "keep-alive")]
#[case("Keep-Alive", "timeout=5")]
#[case("Upgrade", "websocket")]
#[case("HTTP2-Settings", "AAMAAABkAAQAAP__")]
#[case("TE", "trailers")]
#[case("Trailer", "X")]
#[case("Expect", "100-continue")]
#[case("Proxy-Authorization", "Basic x")]
#[case("proxy-connection", "keep-alive")]
#[case("", "empty name")]
#[case("X Y", "space in name")]
#[case("X:", "colon in name")]
#[case("X\r\nHost", "injected name")]
#[case("Ü", "not ASCII")]
#[case("X", "injected\r\nHost: evil.test")]
#[case("X", "injected\nHost: evil.test")]
#[case("X", "null\0")]
#[tokio::test]
async fn headers_that_control_the_message_are_refused(#[case] name: &str, #[case] value: &str) {
    let error = refused("GET", &[("Accept", "*/*"), (name, value)]).await;
    assert_eq!((error.code(), error.status()), ("refused_header", 400));
    assert!(!error.to_string().contains("evil"), "{error}");
}

#[tokio::test]
async fn headers_are_counted_and_measured() {
    assert_eq!(refused("GET", &[("X", "1"); 65]).await.code(), "refused_header");
    let long = "a".repeat(9_000);
    assert_eq!(refused("GET", &[("X", long.as_str()); 2]).await.code(), "refused_header");
}

#[rstest]
#[tokio::test]
async fn other_methods_are_refused(
    #[values("CONNECT", "TRACE", "get", "", "GET /x HTTP/1.1\r\n", "PRI")] method: &str,
) {
    let error = refused(method, &[]).await;
    assert_eq!((error.code(), error.status()), ("bad_method", 400));
}

#[tokio::test]
async fn a_request_body_is_bounded() {
    let fixture = Fixture::start(|_| ok("")).await;
    let mut settings = settings(&[fixture.allow_entry()]);
    settings.request_bytes_max = 10;
    let egress = egress_with(settings, &ScriptedResolver::new(&[]));
    let mut request = FetchRequest::new("POST", &fixture.url("/"));
    request.body = vec![b'a'; 10].into();
    egress.fetch("hello", request.clone()).await.unwrap();
    request.body = vec![b'a'; 11].into();
    let error = egress.fetch("hello", request).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("request_too_large", 413));
    assert_eq!(fixture.connections(), 1);
}

#[tokio::test]
async fn a_post_arrives_as_it_was_given() {
    let fixture = Fixture::start(|_| {
        ServerScript::Bytes(b"HTTP/1.1 418 Teapot\r\nX-A: 1\r\nX-A: \xff\r\nContent-Length: 2\r\n\r\nno".to_vec())
    })
    .await;
    let mut request = FetchRequest::new("POST", &fixture.url("/hook?x=%20"));
    request.headers =
        vec![("Content-Type".into(), "application/json".into()), ("X-Signature".into(), "sha256=00".into())];
    request.body = r#"{"a":1}"#.into();
    let response = egress(&[fixture.allow_entry()]).fetch("hello", request).await.unwrap();
    assert_eq!((response.status, &response.body[..]), (418, &b"no"[..]));
    let values: Vec<_> =
        response.headers.iter().filter(|(name, _)| name == "x-a").map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["1", "\u{fffd}"]);
    let request = &fixture.requests()[0];
    assert_eq!(request.line(), "POST /hook?x=%20");
    assert_eq!(request.body, br#"{"a":1}"#);
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-signature"), Some("sha256=00"));
    assert_eq!(request.header("content-length"), Some("7"));
    assert_eq!(request.header("user-agent"), Some(concat!("gateway/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(request.header("referer"), None);
}

#[rstest]
#[case("GET", None)]
#[case("HEAD", None)]
#[case("DELETE", None)]
#[case("OPTIONS", None)]
#[case("POST", Some("0"))]
#[case("PUT", Some("0"))]
#[case("PATCH", Some("0"))]
#[tokio::test]
async fn an_empty_body_is_announced_where_one_is_expected(#[case] method: &str, #[case] length: Option<&str>) {
    let fixture = Fixture::start(|_| ServerScript::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())).await;
    let mut request = FetchRequest::new(method, &fixture.url("/"));
    request.headers = vec![("User-Agent".into(), "mine".into())];
    egress(&[fixture.allow_entry()]).fetch("hello", request).await.unwrap();
    let request = &fixture.requests()[0];
    assert_eq!(request.header("content-length"), length);
    assert_eq!(request.header("user-agent"), Some("mine"));
}

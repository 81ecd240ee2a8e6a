//! Responses that are too long, too slow or broken.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use rstest::rstest;

use super::fixture::*;
use crate::{EgressError, FetchRequest, FetchResponse, Overflow};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

async fn fetch(fixture: &Fixture, request: FetchRequest) -> Result<FetchResponse, EgressError> {
    egress(&[fixture.allow_entry()]).fetch("hello", request).await
}

#[rstest]
#[case::silence(|| ServerScript::Hang(Vec::new()))]
#[case::silence_in_the_head(|| ServerScript::Hang(b"HTTP/1.1 200 OK\r\nX: ".to_vec()))]
#[case::silence_in_the_body(|| ServerScript::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec()))]
#[case::drip_in_the_head(|| ServerScript::Drip(b"HTTP/1.1 200 OK\r\nX: ".to_vec()))]
#[case::drip_in_the_body(|| ServerScript::Drip(HEAD.to_vec()))]
#[tokio::test]
async fn the_deadline_covers_the_last_byte(#[case] reply: fn() -> ServerScript) {
    let fixture = Fixture::start(move |_| reply()).await;
    let mut request = get(&fixture.url("/"));
    request.timeout_ms = Some(150);
    let started = Instant::now();
    let error = fetch(&fixture, request).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("timeout", 504));
    assert_eq!(error.to_string(), "no complete answer within 150 ms (host \"127.0.0.1\")");
    assert!((150..3000).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    assert_eq!(fixture.connections(), 1);
}

/// Each hop is within the deadline, all together are not.
#[tokio::test]
async fn the_deadline_covers_all_hops() {
    let fixture = Fixture::start(|request| match request.path() {
        "/" => redirect(302, "/slow"),
        _ => ServerScript::Drip(HEAD.to_vec()),
    })
    .await;
    let mut request = get(&fixture.url("/"));
    (request.timeout_ms, request.redirects_max) = (Some(150), 1);
    assert_eq!(fetch(&fixture, request).await.unwrap_err().code(), "timeout");
    assert_eq!(fixture.request_lines(), ["GET /", "GET /slow"]);
}

#[tokio::test]
async fn a_request_cannot_exceed_the_settings() {
    let fixture = Fixture::start(|request| match request.path() {
        "/slow" => ServerScript::Hang(Vec::new()),
        _ => ok("0123456789"),
    })
    .await;
    let mut settings = settings(&[fixture.allow_entry()]);
    (settings.timeout_ms, settings.timeout_max_ms, settings.response_bytes_max) = (100, 150, 9);
    let egress = egress_with(settings, &ScriptedResolver::new(&[]));
    let mut slow = get(&fixture.url("/slow"));
    slow.timeout_ms = Some(u64::MAX);
    assert!(matches!(egress.fetch("hello", slow).await.unwrap_err(), EgressError::Timeout { timeout_ms: 150, .. }));
    let mut large = get(&fixture.url("/"));
    large.response_bytes_max = Some(u64::MAX);
    let error = egress.fetch("hello", large).await.unwrap_err();
    assert!(matches!(error, EgressError::TooLarge { bytes_max: 9, .. }), "{error}");
}

#[rstest]
#[case::until_close(HEAD, &[b'a'; 65536])]
#[case::chunked(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\naaaaa\r\n")]
#[tokio::test]
async fn an_endless_body_ends_at_the_limit(
    #[case] head: &'static [u8],
    #[case] pattern: &'static [u8],
    #[values(Overflow::Fail, Overflow::Truncate)] overflow: Overflow,
) {
    let fixture = Fixture::start(move |_| ServerScript::Endless(head.to_vec(), pattern.to_vec())).await;
    let mut request = get(&fixture.url("/"));
    (request.response_bytes_max, request.overflow) = (Some(100_000), overflow);
    match (overflow, fetch(&fixture, request).await) {
        (Overflow::Truncate, Ok(response)) => {
            assert!(response.is_truncated);
            assert_eq!(response.body.len(), 100_000);
            assert!(response.body.iter().all(|byte| *byte == b'a'));
        }
        (Overflow::Fail, Err(error)) => {
            assert_eq!((error.code(), error.status()), ("too_large", 502));
            assert_eq!(error.to_string(), "the answer of \"127.0.0.1\" is too large: a body of more than 100000 bytes");
        }
        (_, other) => panic!("{other:?}"),
    }
    eventually("the connection is closed", || fixture.client_closed()).await;
    assert!(fixture.sent() < 64 * 1024 * 1024, "{} bytes were read or buffered", fixture.sent());
}

#[rstest]
#[case(10, None)]
#[case(9, Some("too_large"))]
#[tokio::test]
async fn the_body_limit_is_exact(
    #[case] limit: u64,
    #[case] code: Option<&str>,
    #[values(true, false)] announced: bool,
) {
    let fixture = Fixture::start(move |_| match announced {
        true => ok("0123456789"),
        false => ServerScript::Bytes([HEAD, b"0123456789"].concat()),
    })
    .await;
    let mut request = get(&fixture.url("/"));
    request.response_bytes_max = Some(limit);
    let outcome = fetch(&fixture, request).await;
    assert_eq!(outcome.as_ref().err().map(EgressError::code), code);
}

#[tokio::test]
async fn a_declared_length_over_the_limit_fails_at_once() {
    let fixture =
        Fixture::start(|_| ServerScript::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec()))
            .await;
    assert_eq!(fetch(&fixture, get(&fixture.url("/"))).await.unwrap_err().code(), "too_large");
}

/// A webhook needs only the status: a slow or long body must not make it fail.
#[rstest]
#[case::slow(|| ServerScript::Drip(HEAD.to_vec()), true)]
#[case::silent(|| ServerScript::Hang(HEAD.to_vec()), true)]
#[case::empty(|| ok(""), false)]
#[tokio::test]
async fn a_limit_of_zero_does_not_wait_for_the_body(#[case] reply: fn() -> ServerScript, #[case] cut: bool) {
    let fixture = Fixture::start(move |_| reply()).await;
    let mut request = get(&fixture.url("/"));
    (request.response_bytes_max, request.overflow) = (Some(0), Overflow::Truncate);
    let response = fetch(&fixture, request).await.unwrap();
    assert_eq!((response.status, response.body.len(), response.is_truncated), (200, 0, cut));
}

#[tokio::test]
async fn the_content_length_of_a_head_response_is_no_body() {
    let fixture =
        Fixture::start(|_| ServerScript::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec()))
            .await;
    let response = fetch(&fixture, FetchRequest::new("HEAD", &fixture.url("/"))).await.unwrap();
    assert_eq!((response.status, response.body.len()), (200, 0));
}

#[tokio::test]
async fn a_gzip_bomb_stays_small() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![0; 32 * 1024 * 1024]).unwrap();
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 100_000);
    let mut reply =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", bomb.len()).into_bytes();
    reply.extend_from_slice(&bomb);
    let fixture = Fixture::start(move |_| ServerScript::Bytes(reply.clone())).await;
    let response = fetch(&fixture, get(&fixture.url("/"))).await.unwrap();
    assert_eq!(response.body, bomb);
    assert!(response.headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())));
    assert_eq!(fixture.requests()[0].header("accept-encoding"), None);
}

#[rstest]
#[case::large(1, 70_000, "too_large")]
#[case::larger_than_any_buffer(1, 2_000_000, "broken_answer")]
#[case::many(500, 10, "broken_answer")]
#[tokio::test]
async fn headers_are_bounded(#[case] count: usize, #[case] bytes: usize, #[case] code: &str) {
    let line = format!("X: {}\r\n", "a".repeat(bytes));
    let reply = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", line.repeat(count));
    let fixture = Fixture::start(move |_| ServerScript::Bytes(reply.clone().into_bytes())).await;
    assert_eq!(fetch(&fixture, get(&fixture.url("/"))).await.unwrap_err().code(), code);
}

#[rstest]
#[case::nothing(b"")]
#[case::no_http(b"220 mail.example ESMTP\r\n")]
#[case::http_09(b"hello")]
#[case::half_a_head(b"HTTP/1.1 200 OK\r\nX: ")]
#[case::half_a_body(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")]
#[case::two_lengths(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")]
#[case::bad_chunk(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")]
#[case::odd_status(b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n")]
#[case::upgrade(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")]
#[tokio::test]
async fn a_malformed_response_is_broken(#[case] reply: &'static [u8]) {
    let fixture = Fixture::start(move |_| ServerScript::Bytes(reply.to_vec())).await;
    let error = fetch(&fixture, get(&fixture.url("/secret"))).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("broken_answer", 502));
    assert_eq!(error.to_string(), "\"127.0.0.1\" broke off or did not speak HTTP");
    assert_eq!(fixture.connections(), 1, "nothing is sent twice");
}

#[tokio::test]
async fn a_closed_port_fails_to_connect() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let egress = egress(std::slice::from_ref(&address));
    let error = egress.fetch("hello", get(&format!("http://{address}/"))).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("connect", 502));
    assert_eq!(error.to_string(), "no connection to \"127.0.0.1\"");
}

#[tokio::test]
async fn a_dropped_fetch_closes_its_connection() {
    let fixture = Fixture::start(|_| ServerScript::Drip(HEAD.to_vec())).await;
    let egress = egress(&[fixture.allow_entry()]);
    let url = fixture.url("/");
    let running = tokio::spawn(async move { egress.fetch("hello", get(&url)).await.map(drop) });
    eventually("the request arrived", || fixture.connections() == 1).await;
    running.abort();
    tokio::time::timeout(Duration::from_secs(5), running).await.unwrap().unwrap_err();
    eventually("the connection is closed", || fixture.client_closed()).await;
}

//! Responses that are read while they arrive.

use std::{io::Write, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt as _;
use rstest::rstest;
use tokio::sync::Semaphore;

use super::fixture::*;
use crate::{
    Egress, EgressError, FetchRequest, Overflow, ResponseBody, StreamTimeouts, StreamedResponse, request::ValidRequest,
};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 206 Partial\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
const KIB: usize = 1024;

fn idle(idle_ms: u64) -> StreamTimeouts {
    StreamTimeouts { idle_ms: Some(idle_ms), total_ms: None }
}

async fn stream(fixture: &Fixture, request: FetchRequest) -> Result<StreamedResponse, EgressError> {
    egress(&[fixture.allow_entry()]).stream("hello", request, StreamTimeouts::default()).await
}

/// The chunks up to the end, and how it ended.
async fn read(mut body: ResponseBody) -> (Vec<u8>, Result<(), EgressError>) {
    let mut all = Vec::new();
    while let Some(chunk) = body.next().await {
        match chunk {
            Ok(chunk) => all.extend_from_slice(&chunk),
            Err(error) => {
                assert!(body.next().await.is_none(), "an error is the last item");
                return (all, Err(error));
            }
        }
    }
    (all, Ok(()))
}

async fn next(body: &mut ResponseBody) -> Bytes {
    tokio::time::timeout(Duration::from_secs(10), body.next()).await.expect("a chunk arrives").unwrap().unwrap()
}

#[tokio::test]
async fn chunks_arrive_before_the_other_side_has_finished() {
    let gate = Arc::new(Semaphore::new(0));
    let opening = Arc::clone(&gate);
    let parts = ["5\r\nfirst\r\n", "6\r\nsecond\r\n", "0\r\n\r\n"].map(|part| part.as_bytes().to_vec());
    let fixture =
        Fixture::start(move |_| ServerScript::Parts(CHUNKED.to_vec(), parts.to_vec(), Arc::clone(&gate))).await;
    let mut response = stream(&fixture, get(&fixture.url("/x"))).await.unwrap();
    assert_eq!((response.status, response.url), (206, fixture.url("/x")));
    assert!(response.headers.contains(&("x-a".to_owned(), "1".to_owned())));
    for part in ["first", "second"] {
        opening.add_permits(1);
        assert_eq!(next(&mut response.body).await, part);
    }
    opening.add_permits(1);
    assert!(response.body.next().await.is_none() && response.body.next().await.is_none());
}

/// What nobody reads waits in the socket's buffers, which are far smaller than what the other side wants to send.
#[tokio::test]
async fn who_does_not_read_stops_the_other_side() {
    let pattern = vec![b'a'; 64 * KIB];
    let fixture = Fixture::start(move |_| ServerScript::Endless(HEAD.to_vec(), pattern.clone())).await;
    let mut request = get(&fixture.url("/"));
    request.response_bytes_max = Some(u64::MAX);
    let mut response = stream(&fixture, request).await.unwrap();
    let before = settled(&fixture).await;
    assert!(before < 24 * KIB * KIB, "{before} bytes are accepted though none is read");
    let mut read = 0;
    while read < 2 * before {
        read += next(&mut response.body).await.len();
    }
    let after = settled(&fixture).await;
    assert!(after - read < 24 * KIB * KIB, "{after} bytes are accepted, {read} are read");
    drop(response);
    eventually("the connection is closed", || fixture.client_closed()).await;
}

/// The bytes that the server could write, once it cannot write more.
async fn settled(fixture: &Fixture) -> usize {
    loop {
        let before = fixture.sent();
        assert!(before < 1 << 28, "it is not stopped: {before} bytes are written");
        tokio::time::sleep(Duration::from_millis(200)).await;
        if before > 0 && fixture.sent() == before {
            return before;
        }
    }
}

#[rstest]
#[case::before_the_first_chunk(b"")]
#[case::between_chunks(b"5\r\nfirst\r\n")]
#[tokio::test]
async fn silence_ends_a_stream(#[case] begin: &'static [u8]) {
    let fixture = Fixture::start(move |_| ServerScript::Hang([CHUNKED, begin].concat())).await;
    let egress = egress(&[fixture.allow_entry()]);
    let response = egress.stream("hello", get(&fixture.url("/")), idle(80)).await.unwrap();
    let (_, end) = read(response.body).await;
    let error = end.unwrap_err();
    assert_eq!((error.code(), error.status()), ("timeout", 504));
    assert_eq!(error.to_string(), "nothing more of the answer within 80 ms (host \"127.0.0.1\")");
}

/// Time in which nobody reads is not the other side's.
#[tokio::test]
async fn a_reader_may_take_its_time() {
    let fixture = Fixture::start(|_| ok("first")).await;
    let egress = egress(&[fixture.allow_entry()]);
    let mut response = egress.stream("hello", get(&fixture.url("/")), idle(50)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(next(&mut response.body).await, "first");
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert!(response.body.next().await.is_none());
}

#[rstest]
#[case::silence(|| ServerScript::Hang(Vec::new()))]
#[case::drip_in_the_head(|| ServerScript::Drip(b"HTTP/1.1 200 OK\r\nX: ".to_vec()))]
#[tokio::test]
async fn the_head_has_a_deadline_of_its_own(#[case] reply: fn() -> ServerScript) {
    let fixture = Fixture::start(move |_| reply()).await;
    let mut request = get(&fixture.url("/"));
    request.timeout_ms = Some(150);
    let error = stream(&fixture, request).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer within 150 ms (host \"127.0.0.1\")");
}

/// The deadline of the head is not one of the body, which may go on for longer.
#[tokio::test]
async fn the_body_outlasts_the_deadline_of_the_head() {
    let fixture = Fixture::start(|_| ServerScript::Drip(HEAD.to_vec())).await;
    let mut request = get(&fixture.url("/"));
    (request.timeout_ms, request.response_bytes_max, request.overflow) = (Some(100), Some(60), Overflow::Truncate);
    let (body, end) = read(stream(&fixture, request).await.unwrap().body).await;
    // 60 bytes of one every 5 ms.
    assert_eq!((body.len(), end.is_ok()), (60, true));
}

#[rstest]
#[case::of_drips(|| ServerScript::Drip(HEAD.to_vec()), 0)]
#[case::of_plenty(|| ServerScript::Endless(HEAD.to_vec(), vec![b'a'; 64 * KIB]), 10)]
#[tokio::test]
async fn a_stream_may_have_a_deadline_as_a_whole(#[case] reply: fn() -> ServerScript, #[case] pause_ms: u64) {
    let fixture = Fixture::start(move |_| reply()).await;
    let timeouts = StreamTimeouts { idle_ms: Some(u64::MAX), total_ms: Some(300) };
    let mut response =
        egress(&[fixture.allow_entry()]).stream("hello", get(&fixture.url("/")), timeouts).await.unwrap();
    for _ in 0..1000 {
        // A reader that is slower than its source never waits for it.
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        if let Err(error) = response.body.next().await.unwrap() {
            assert_eq!(error.to_string(), "no complete answer within 300 ms (host \"127.0.0.1\")");
            return;
        }
    }
    panic!("it is read beyond its deadline");
}

#[tokio::test]
async fn silence_has_a_bound_that_no_request_exceeds() {
    for (requested, idle_ms) in [(None, 60_000), (Some(5), 5), (Some(u64::MAX), 600_000)] {
        let timeouts = StreamTimeouts { idle_ms: requested, total_ms: Some(u64::MAX) };
        let request = get("http://192.0.2.1/");
        let allow = crate::AllowList::parse(&["192.0.2.1".to_owned()]).unwrap();
        let valid = ValidRequest::new(request, Some(timeouts), &settings(&[]), &allow).unwrap();
        assert_eq!((valid.body_limits.idle_ms, valid.head_timeout_ms), (Some(idle_ms), 10_000));
    }
}

#[rstest]
#[case::a_request_sets_less(Some(100_000), 1 << 20)]
#[case::and_never_more(Some(u64::MAX), 100_000)]
#[case::the_setting(None, 100_000)]
#[tokio::test]
async fn the_bytes_of_a_stream_are_bounded(#[case] requested: Option<u64>, #[case] setting: u64) {
    let fixture = Fixture::start(|_| ServerScript::Endless(HEAD.to_vec(), vec![b'a'; 64 * KIB])).await;
    let mut settings = settings(&[fixture.allow_entry()]);
    (settings.stream_bytes_max, settings.response_bytes_max) = (setting, 10);
    let egress = egress_with(settings, &ScriptedResolver::new(&[]));
    for overflow in [Overflow::Fail, Overflow::Truncate] {
        let mut request = get(&fixture.url("/"));
        (request.response_bytes_max, request.overflow) = (requested, overflow);
        let response = egress.stream("hello", request, StreamTimeouts::default()).await.unwrap();
        let (body, end) = read(response.body).await;
        match overflow {
            Overflow::Fail => {
                let error = end.unwrap_err();
                assert!(matches!(error, EgressError::TooLarge { bytes_max: 100_000, .. }), "{error}");
                assert!(body.len() <= 100_000);
            }
            Overflow::Truncate => assert_eq!((body.len(), end.is_ok()), (100_000, true)),
        }
        eventually("the connection is closed", || fixture.client_closed()).await;
    }
}

#[tokio::test]
async fn a_length_over_the_bound_is_refused_with_the_head() {
    let fixture =
        Fixture::start(|_| ServerScript::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n".to_vec())).await;
    let mut request = get(&fixture.url("/"));
    request.response_bytes_max = Some(100);
    assert_eq!(stream(&fixture, request.clone()).await.unwrap_err().code(), "too_large");
    request.response_bytes_max = Some(101);
    assert_eq!(stream(&fixture, request).await.unwrap().status, 200);
}

#[tokio::test]
async fn content_codings_stay_as_they_are() {
    let mut coded = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    coded.write_all(&vec![0; 1 << 20]).unwrap();
    let coded = coded.finish().unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", coded.len());
    let reply = [head.as_bytes(), &coded].concat();
    let fixture = Fixture::start(move |_| ServerScript::Bytes(reply.clone())).await;
    let response = stream(&fixture, get(&fixture.url("/"))).await.unwrap();
    assert!(response.headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())));
    let (body, end) = read(response.body).await;
    assert!(body == coded && end.is_ok());
    assert_eq!(fixture.requests()[0].header("accept-encoding"), None);
}

#[rstest]
#[case::short_of_its_length(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst")]
#[case::in_a_chunk(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfirst")]
#[case::between_chunks(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")]
#[tokio::test]
async fn a_server_that_dies_in_the_middle_is_an_error(#[case] reply: &'static [u8]) {
    let gate = Arc::new(Semaphore::new(1));
    let fixture = Fixture::start(move |_| {
        let (head, rest) = reply.split_at(reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4);
        ServerScript::Parts(head.to_vec(), vec![rest.to_vec()], Arc::clone(&gate))
    })
    .await;
    let (body, end) = read(stream(&fixture, get(&fixture.url("/"))).await.unwrap().body).await;
    assert_eq!((&body[..], end.unwrap_err().code()), (&b"first"[..], "broken_answer"));
}

/// A plugin with one slot, which a stream holds.
async fn one_slot(reply: fn(&RecordedRequest) -> ServerScript) -> (Fixture, Egress) {
    let fixture = Fixture::start(reply).await;
    let mut settings = settings(&[fixture.allow_entry()]);
    settings.per_plugin_concurrency = 1;
    let egress = egress_with(settings, &ScriptedResolver::new(&[]));
    (fixture, egress)
}

async fn code_of_another(fixture: &Fixture, egress: &Egress) -> &'static str {
    let mut request = get(&fixture.url("/other"));
    request.timeout_ms = Some(100);
    egress.fetch("hello", request).await.map_or_else(|error| error.code(), |_| "ok")
}

#[tokio::test]
async fn a_stream_holds_its_slot_until_it_is_dropped() {
    let (fixture, egress) = one_slot(|request| match request.path() {
        "/other" => ok(""),
        _ => ServerScript::Hang([HEAD, b"first"].concat()),
    })
    .await;
    let mut response = egress.stream("hello", get(&fixture.url("/")), StreamTimeouts::default()).await.unwrap();
    assert_eq!(next(&mut response.body).await, "first");
    assert_eq!(code_of_another(&fixture, &egress).await, "egress_busy");
    drop(response);
    assert_eq!(code_of_another(&fixture, &egress).await, "ok");
}

#[rstest]
#[case::its_end("/end")]
#[case::its_failure("/failure")]
#[case::its_deadline("/silence")]
#[case::no_body_at_all("/nothing")]
#[tokio::test]
async fn a_stream_that_is_over_frees_its_slot(#[case] path: &str) {
    let (fixture, egress) = one_slot(|request| match request.path() {
        "/failure" => ServerScript::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst".to_vec()),
        "/silence" => ServerScript::Hang(HEAD.to_vec()),
        _ => ok("first"),
    })
    .await;
    let mut request = get(&fixture.url(path));
    if path == "/nothing" {
        (request.response_bytes_max, request.overflow) = (Some(0), Overflow::Truncate);
    }
    let mut response = egress.stream("hello", request, idle(80)).await.unwrap();
    while response.body.next().await.is_some() {}
    assert_eq!(code_of_another(&fixture, &egress).await, "ok", "though the body is still there");
    drop(response);
}

#[rstest]
#[case::at_once("http://10.0.0.1/", "private_url")]
#[case::by_a_redirect("/", "private_url")]
#[case::by_a_name("http://inside.test/", "private_url")]
#[tokio::test]
async fn what_a_fetch_refuses_a_stream_refuses(#[case] url: &str, #[case] code: &str) {
    let fixture = Fixture::start(|_| redirect(302, "http://169.254.169.254/latest/meta-data/")).await;
    let resolver = ScriptedResolver::new(&[("inside.test", &[&["10.0.0.1"]])]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    let url = if url == "/" { fixture.url("/") } else { url.to_owned() };
    let mut request = get(&url);
    request.redirects_max = 1;
    let error = egress.stream("hello", request, StreamTimeouts::default()).await.unwrap_err();
    assert_eq!((error.code(), error.status()), (code, 400));
}

//! Requests whose end two servers could see in different places are refused.

use super::fixture::{Client, settings, start};
use crate::http::edge::framing::{Framing, Violation};
use proptest::prelude::*;
use rstest::rstest;

const TWO_LENGTHS: &str =
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nX";

#[rstest]
#[case::length_then_coding(TWO_LENGTHS)]
#[case::coding_then_length(
    "POST /echo HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nX"
)]
#[case::bare_line_feeds("GET /hello HTTP/1.1\nhost: a\n\n")]
#[case::one_bare_line_feed("GET /hello HTTP/1.1\r\nhost: a\nx: y\r\n\r\n")]
#[tokio::test]
async fn refuses_bytes_that_two_servers_could_read_differently(#[case] request: &str) {
    let edge = start(&settings());
    let mut client = Client::connect(edge.addr).await;
    let answer = client.ask(request).await;
    assert_eq!((answer.status, &*answer.code()), (400, "bad_framing"), "{}", answer.text());
    assert_eq!(answer.header("connection"), Some("close"));
    client.ended().await;
}

#[tokio::test]
async fn refuses_them_behind_good_requests_too() {
    let edge = start(&settings());
    let mut client = Client::connect(edge.addr).await;
    client
        .send(format!(
            "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\none\
             POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n{TWO_LENGTHS}"
        ))
        .await;
    assert_eq!(client.answer().await.text(), "one");
    assert_eq!(client.answer().await.text(), "two");
    assert_eq!(client.answer().await.status, 400);
}

#[tokio::test]
async fn lets_a_body_say_what_a_head_may_not() {
    let edge = start(&settings());
    let mut client = Client::connect(edge.addr).await;
    let body = "x\ncontent-length: 1\ntransfer-encoding: chunked\n\n";
    let request = format!("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    assert_eq!(client.ask(&request).await.text(), body);
    assert_eq!(client.get("/hello").await.text(), "hello");
}

#[test]
fn follows_http2_no_further() {
    let mut framing = Framing::new();
    framing.feed(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\n\n\n");
    assert!(!framing.in_head() && !framing.in_body() && framing.violation().is_none());
    assert_eq!(framing.heads(), 1);
}

#[test]
fn an_endless_length_is_a_violation() {
    let mut framing = Framing::new();
    framing.feed(b"GET / HTTP/1.1\r\ncontent-length:");
    framing.feed(&[b' '; 300]);
    framing.feed(b"5\r\n\r\n");
    assert_eq!(framing.violation(), Some((0, Violation::AbsurdLength)));
}

fn request() -> impl Strategy<Value = Vec<u8>> {
    let body = proptest::collection::vec(any::<u8>(), 0..40);
    let long_header = prop_oneof![Just(String::new()), Just(format!("x-long: {}\r\n", "y".repeat(400)))];
    (body, any::<bool>(), any::<bool>(), long_header).prop_map(|(body, chunked, blank_line_first, long_header)| {
        let mut bytes = if blank_line_first { b"\r\n".to_vec() } else { Vec::new() };
        bytes.extend(format!("POST / HTTP/1.1\r\nhost: a\r\n{long_header}").bytes());
        if chunked {
            bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
            for chunk in body.chunks(7) {
                bytes.extend(format!("{:x};ext=1\r\n", chunk.len()).bytes());
                bytes.extend(chunk);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\ntrailer: t\r\n\r\n");
        } else {
            bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
            bytes.extend(&body);
        }
        bytes
    })
}

proptest! {
    /// However the bytes are cut into reads, good requests are followed to their ends and the bad one is found.
    #[test]
    fn finds_every_head_however_the_bytes_are_cut(
        requests in proptest::collection::vec(request(), 0..6),
        cut_bytes in 1_usize..50,
    ) {
        let mut framing = Framing::new();
        for bytes in requests.concat().chunks(cut_bytes) {
            framing.feed(bytes);
        }
        prop_assert_eq!(framing.heads(), requests.len() as u64);
        prop_assert!(!framing.in_head() && !framing.in_body());
        prop_assert_eq!(framing.violation(), None);
        for bytes in TWO_LENGTHS.as_bytes().chunks(cut_bytes) {
            framing.feed(bytes);
        }
        prop_assert_eq!(framing.violation(), Some((requests.len() as u64, Violation::TwoLengths)));
    }

    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut_bytes in 1_usize..50) {
        let mut framing = Framing::new();
        for bytes in bytes.chunks(cut_bytes) {
            framing.feed(bytes);
        }
    }
}

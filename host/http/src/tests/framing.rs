//! Tracking a connection from head to head. Which heads are refused, and how, is in [`super::request_heads`].

use super::fixture::{Client, settings, start};
use crate::connection::{Framing, HeadError, HeadLimits};
use proptest::prelude::*;

const TWO_LENGTHS: &str =
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nX";

fn framing() -> Framing {
    Framing::new(HeadLimits::new(&settings()))
}

/// Feeds the bytes in parts as a socket would, a pending head again with each part. Returns what hyper may see.
fn feed(framing: &mut Framing, bytes: &[u8], part_bytes: usize) -> Vec<u8> {
    let (mut pending, mut passed) = (Vec::new(), Vec::new());
    for part in bytes.chunks(part_bytes) {
        pending.extend_from_slice(part);
        if framing.head_error().is_none() {
            let checked = framing.advance(&pending);
            passed.extend(pending.drain(..checked));
        }
    }
    passed
}

#[tokio::test]
async fn a_refused_request_does_not_affect_earlier_ones() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client
        .send(format!(
            "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\none\
             POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n{TWO_LENGTHS}"
        ))
        .await;
    assert_eq!(client.response().await.text(), "one");
    assert_eq!(client.response().await.text(), "two");
    assert_eq!(client.response().await.status, 400);
    client.expect_close().await;
}

#[tokio::test]
async fn accepts_in_a_body_what_a_head_may_not_contain() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let body = "x\ncontent-length: 1\ntransfer-encoding: chunked\n\n";
    let request = format!("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    assert_eq!(client.request(&request).await.text(), body);
    assert_eq!(client.get("/hello").await.text(), "hello");
}

/// hyper takes the bare LF for a part of the trailer. A parser that takes it for the end of the line ends the body too
/// early.
#[tokio::test]
async fn a_trailer_with_a_bare_line_feed_does_not_end_the_body() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client
        .send("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\na: b\n\r\n\r\n")
        .await;
    assert_eq!(client.response().await.text(), "x");
    assert_eq!(client.get("/hello").await.text(), "hello");
}

#[test]
fn does_not_track_http2() {
    let mut framing = framing();
    let bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\n\n\n";
    assert_eq!(feed(&mut framing, bytes, 5), bytes);
    assert!(!framing.in_head() && !framing.in_body() && framing.head_error().is_none());
    assert_eq!(framing.complete_heads(), 1);
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
    /// At any read size, valid requests pass unchanged and the refused one does not pass.
    #[test]
    fn finds_every_head_at_any_read_size(
        requests in proptest::collection::vec(request(), 0..6),
        cut_bytes in 1_usize..50,
    ) {
        let mut framing = framing();
        let good = requests.concat();
        prop_assert_eq!(feed(&mut framing, &good, cut_bytes), good);
        prop_assert_eq!(framing.complete_heads(), requests.len() as u64);
        prop_assert!(!framing.in_head() && !framing.in_body());
        prop_assert_eq!(framing.head_error(), None);
        prop_assert_eq!(feed(&mut framing, TWO_LENGTHS.as_bytes(), cut_bytes), b"");
        prop_assert_eq!(framing.head_error(), Some((requests.len() as u64, HeadError::DuplicateLength)));
    }

    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut_bytes in 1_usize..50) {
        feed(&mut framing(), &bytes, cut_bytes);
    }
}

//! Responses are compressed where it helps, event streams never.

use super::fixture::{Client, large_text, settings, start};
use gateway_config::HttpConfig;
use rstest::rstest;
use std::io::Read;

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn compresses_large_text() {
    let server = start(&settings());
    let response = Client::connect(server.addr).await.get_with("/large", "accept-encoding: gzip\r\n").await;
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    assert_eq!(response.header("vary"), Some("accept-encoding"));
    assert_eq!(response.header("etag"), Some("W/\"v1\""), "other bytes, so no strong tag");
    assert!(response.body.len() < large_text().len() / 5);
    assert_eq!(gunzip(&response.body), large_text());
}

#[tokio::test]
async fn compresses_streams_of_text_but_no_event_stream() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let response = client.get_with("/stream", "accept-encoding: gzip\r\n").await;
    assert_eq!(gunzip(&response.body), "line\n".repeat(1000));
    let response = client.get_with("/events", "accept-encoding: gzip, br\r\n").await;
    assert_eq!(response.header("content-encoding"), None);
    assert_eq!(response.text(), "data: x\n\n".repeat(1000));
}

#[rstest]
#[case::brotli_is_preferred("/large", "gzip, deflate, br", Some("br"))]
#[case::small("/hello", "gzip", None)]
#[case::image("/large.png", "gzip", None)]
#[case::already("/large.br", "gzip, br", Some("br"))]
#[case::not_wanted("/large", "identity", None)]
#[case::weight_zero("/large", "br;q=0, gzip;q=0.5", Some("gzip"))]
#[case::unsupported_coding("/large", "zstd", None)]
#[case::no_identity("/large", "identity;q=0", None)]
#[case::everything_refused("/large", "*;q=0", None)]
#[tokio::test]
async fn chooses_a_coding(#[case] path: &str, #[case] accepted: &str, #[case] coding: Option<&str>) {
    let server = start(&settings());
    let accept = format!("accept-encoding: {accepted}\r\n");
    let response = Client::connect(server.addr).await.get_with(path, &accept).await;
    assert_eq!(response.status, 200, "the coding never changes the handler's status");
    assert_eq!(response.header("content-encoding"), coding);
    if path == "/large.br" {
        assert_eq!(response.text(), large_text(), "what is compressed already is left alone");
    }
}

#[tokio::test]
async fn can_be_switched_off() {
    let server = start(&HttpConfig { compression: false, ..settings() });
    let response = Client::connect(server.addr).await.get_with("/large", "accept-encoding: gzip\r\n").await;
    assert_eq!((response.header("content-encoding"), response.header("vary")), (None, None));
    assert_eq!(response.header("etag"), Some("\"v1\""));
    assert_eq!(response.text(), large_text());
}

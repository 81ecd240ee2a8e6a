//! The gateway responds to every unreadable request itself: with the one error body, its headers, and the end of the
//! connection. hyper's own response would have neither body nor request id.

use super::fixture::{Client, TestResponse, settings, start};
use gateway_config::HttpConfig;
use rstest::rstest;
use tokio::io::AsyncWriteExt;

#[track_caller]
fn assert_refused(response: &TestResponse, status: u16, code: &str) {
    assert_eq!((response.status, &*response.code()), (status, code), "{}", response.text());
    let body: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    assert!(!body["hint"].as_str().unwrap().is_empty() && body.as_object().unwrap().len() == 3, "{body}");
    assert_eq!(response.header("x-request-id").unwrap().len(), 36);
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(response.header("connection"), Some("close"));
    assert_eq!(response.header("content-length").unwrap().parse(), Ok(response.body.len()));
}

/// At once, byte by byte, and after a valid request.
async fn send_in_every_way(request: &[u8], status: u16, code: &str) {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send(request).await;
    assert_refused(&client.response().await, status, code);
    client.expect_close().await;

    let mut client = Client::connect(server.addr).await;
    client.stream.set_nodelay(true).unwrap();
    for byte in request {
        // The gateway may have had enough before the last byte.
        if client.stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_refused(&client.response().await, status, code);
    client.expect_close().await;

    let mut client = Client::connect(server.addr).await;
    client.send([b"GET /hello HTTP/1.1\r\nhost: a\r\n\r\n", request].concat()).await;
    assert_eq!(client.response().await.text(), "hello");
    assert_refused(&client.response().await, status, code);
    client.expect_close().await;
}

#[rstest]
#[case::forbidden_in_a_method("GE(T /hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::no_method(" /hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::nul_first("\0GET /hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::no_target("GET  HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::two_spaces("GET  /hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::space_in_target("GET /hel lo HTTP/1.1\r\nhost: a\r\n\r\n", "bad_version")]
#[case::nul_in_target("GET /hel\0lo HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::angle_bracket_in_target("GET /<script> HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::no_path("GET hello/there HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::url_of_ftp("GET ftp://a/hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::url_of_https_in_disguise("GET httpsx://a/hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::fragment("GET /hello#top HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::fragment_of_url("GET http://a/hello#top HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::url_without_host("GET http:///hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[case::http_0_9("GET /hello\r\n", "bad_request_line")]
#[case::http_1_2("GET /hello HTTP/1.2\r\nhost: a\r\n\r\n", "bad_version")]
#[case::http_2_as_text("GET /hello HTTP/2.0\r\nhost: a\r\n\r\n", "bad_version")]
#[case::other_protocol("GET /hello RTSP/1.0\r\nhost: a\r\n\r\n", "bad_version")]
#[case::lower_case_version("GET /hello http/1.1\r\nhost: a\r\n\r\n", "bad_version")]
#[case::ssh("SSH-2.0-OpenSSH_9.6\r\n", "bad_request_line")]
#[case::socks("\x05\x01\0", "bad_request_line")]
#[case::http2_preface_with_a_wrong_end("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "bad_version")]
#[case::bare_line_feeds("GET /hello HTTP/1.1\nhost: a\n\n", "bad_framing")]
#[case::one_bare_line_feed("GET /hello HTTP/1.1\r\nhost: a\nx: y\r\n\r\n", "bad_framing")]
#[case::bare_line_feed_first("\nGET /hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_framing")]
#[case::bare_carriage_return("GET /hello HTTP/1.1\rhost: a\r\n\r\n", "bad_framing")]
#[case::bare_carriage_return_first("\rGET /hello HTTP/1.1\r\nhost: a\r\n\r\n", "bad_framing")]
#[case::space_after_name("GET /hello HTTP/1.1\r\nhost : a\r\n\r\n", "bad_header")]
#[case::space_in_name("GET /hello HTTP/1.1\r\nho st: a\r\n\r\n", "bad_header")]
#[case::no_name("GET /hello HTTP/1.1\r\n: a\r\n\r\n", "bad_header")]
#[case::no_colon("GET /hello HTTP/1.1\r\nhost\r\n\r\n", "bad_header")]
#[case::folded("GET /hello HTTP/1.1\r\nhost: a\r\n b\r\n\r\n", "bad_header")]
#[case::folded_first("GET /hello HTTP/1.1\r\n host: a\r\n\r\n", "bad_header")]
#[case::non_ascii_name("GET /hello HTTP/1.1\r\nh\u{f6}st: a\r\n\r\n", "bad_header")]
#[case::nul_in_value("GET /hello HTTP/1.1\r\nhost: a\0b\r\n\r\n", "bad_header")]
#[case::delete_in_value("GET /hello HTTP/1.1\r\nhost: a\x7fb\r\n\r\n", "bad_header")]
#[case::carriage_return_in_value("GET /hello HTTP/1.1\r\nhost: a\rb\r\n\r\n", "bad_header")]
#[case::negative_length("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", "bad_framing")]
#[case::signed_length("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: +1\r\n\r\nx", "bad_framing")]
#[case::hexadecimal_length("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 0x1\r\n\r\nx", "bad_framing")]
#[case::no_length("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length:\r\n\r\n", "bad_framing")]
#[case::list_of_lengths("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1, 1\r\n\r\nx", "bad_framing")]
#[case::length_beyond_64_bits(
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 18446744073709551616\r\n\r\n",
    "bad_framing"
)]
#[case::length_of_64_bits(
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 18446744073709551615\r\n\r\n",
    "bad_framing"
)]
#[case::two_lengths(
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy",
    "bad_framing"
)]
#[case::the_same_length_twice(
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\nContent-Length: 1\r\n\r\nx",
    "bad_framing"
)]
#[case::length_and_coding(
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nX",
    "bad_framing"
)]
#[case::coding_and_length(
    "POST /echo HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nX",
    "bad_framing"
)]
#[case::unknown_coding("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n", "bad_framing")]
#[case::two_codings(
    "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "bad_framing"
)]
#[case::chunked_and_more("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, x\r\n\r\n", "bad_framing")]
#[case::chunked_misspelt(
    "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "bad_framing"
)]
#[case::chunked_twice(
    "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "bad_framing"
)]
#[case::chunked_of_http_1_0("POST /echo HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "bad_framing")]
#[tokio::test]
async fn a_malformed_head_gets_the_matching_error_code(#[case] request: &str, #[case] code: &str) {
    send_in_every_way(request.as_bytes(), 400, code).await;
}

#[rstest]
#[case::client_hello(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "tls")]
#[case::bytes_that_are_no_text(b"\xff\xfe\x00\x01\x80\r\n\r\n", "bad_request_line")]
#[case::latin_1_in_target(b"GET /caf\xe9 HTTP/1.1\r\nhost: a\r\n\r\n", "bad_request_line")]
#[tokio::test]
async fn binary_input_gets_an_error_code(#[case] request: &[u8], #[case] code: &str) {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send(request).await;
    assert_refused(&client.response().await, 400, code);
    client.expect_close().await;
}

#[rstest]
#[case::one_long_header(format!("GET /hello HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "x".repeat(20_000)), 431, "head_too_large")]
#[case::endless_header(format!("GET /hello HTTP/1.1\r\nhost: a\r\nx: {}", "x".repeat(300_000)), 431, "head_too_large")]
#[case::many_headers(format!("GET /hello HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(101)), 431, "head_too_large")]
#[case::far_too_many_headers(format!("GET /hello HTTP/1.1\r\n{}", "x: y\r\n".repeat(2000)), 431, "head_too_large")]
#[case::long_target(format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "x".repeat(20_000)), 414, "target_too_long")]
#[case::endless_target(format!("GET /{}", "x".repeat(100_000)), 414, "target_too_long")]
#[case::endless_method("G".repeat(100_000), 414, "target_too_long")]
#[case::endless_empty_lines("\r\n".repeat(20_000), 414, "target_too_long")]
#[tokio::test]
async fn an_oversized_head_is_refused(#[case] request: String, #[case] status: u16, #[case] code: &str) {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send(request).await;
    assert_refused(&client.response().await, status, code);
    client.expect_close().await;
}

/// hyper and the `http` crate have limits of their own.
#[rstest]
#[case::target(format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "x".repeat(65_534)), 414, "target_too_long")]
#[case::name(format!("GET /hello HTTP/1.1\r\nhost: a\r\n{}: x\r\n\r\n", "x".repeat(65_536)), 431, "head_too_large")]
#[tokio::test]
async fn limits_of_the_http_crate_apply_under_a_large_head_limit(
    #[case] request: String,
    #[case] status: u16,
    #[case] code: &str,
) {
    let server = start(&HttpConfig { header_bytes_max: 1_048_576, ..settings() });
    let mut client = Client::connect(server.addr).await;
    client.send(request).await;
    assert_refused(&client.response().await, status, code);
    client.expect_close().await;
}

#[tokio::test]
async fn a_head_of_exactly_the_limit_is_accepted() {
    let server = start(&settings());
    let head = |length: usize| {
        let frame = "GET /hello HTTP/1.1\r\nhost: a\r\nx: \r\n\r\n".len();
        format!("GET /hello HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "x".repeat(length - frame))
    };
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.request(&head(16_384)).await.status, 200);
    assert_eq!(client.request(&head(16_384)).await.status, 200);
    assert_refused(&client.request(&head(16_385)).await, 431, "head_too_large");
}

#[tokio::test]
async fn a_hundred_headers_are_accepted() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.get_with("/hello", &"x: y\r\n".repeat(99)).await.status, 200);
}

#[rstest]
#[case::absolute("GET http://a/hello HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::absolute_https("GET HTTPS://a/hello HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::empty_lines_first("\r\n\r\nGET /hello HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::obscure_method("PROPFIND /hello HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::signs_of_a_method("!#$%&'*+-.^_`|~ /hello HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::obscure_target("GET /hello?a={}|\\^[]\u{e9} HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::http_1_0("GET /hello HTTP/1.0\r\n\r\n", 200)]
#[case::tabs_around_a_value("GET /hello HTTP/1.1\r\nhost:\ta\t\r\n\r\n", 200)]
#[case::empty_value("GET /hello HTTP/1.1\r\nhost: a\r\nx:\r\n\r\n", 200)]
#[case::asterisk("OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n", 404)]
#[case::authority("CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n", 400)]
#[case::no_proxy("GET a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n", 400)]
#[tokio::test]
async fn unusual_valid_heads_are_accepted(#[case] request: &str, #[case] status: u16) {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let response = client.request(request).await;
    assert_eq!(response.status, status, "{}", response.text());
    assert!(response.header("x-request-id").is_some());
}

#[rstest]
#[case::header("HEAD /hello HTTP/1.1\r\nho st: a\r\n\r\n".to_owned(), 400)]
#[case::long_target(format!("HEAD /{} HTTP/1.1\r\nhost: a\r\n\r\n", "x".repeat(20_000)), 414)]
#[case::endless_target(format!("\r\nHEAD /{}", "x".repeat(100_000)), 414)]
#[tokio::test]
async fn a_refused_head_request_gets_no_body(#[case] request: String, #[case] status: u16) {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send(request).await;
    let response = client.head_response().await;
    assert_eq!((response.status, response.header("connection")), (status, Some("close")));
    assert!(response.header("x-request-id").is_some());
    client.expect_close().await;
}

#[tokio::test]
async fn a_client_that_closes_within_a_head_gets_400() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /hello HTTP/1.1\r\nhost: a\r\n").await;
    client.stream.shutdown().await.unwrap();
    assert_refused(&client.response().await, 400, "unfinished_head");
    client.expect_close().await;
}

#[rstest]
#[case::nothing("")]
#[case::empty_lines("\r\n\r\n")]
#[tokio::test]
async fn a_client_that_sends_no_request_gets_no_response(#[case] bytes: &str) {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send(bytes).await;
    client.stream.shutdown().await.unwrap();
    client.expect_close().await;
}

#[tokio::test]
async fn http2_switched_off_gets_an_http_1_error() {
    let server = start(&HttpConfig { http2: false, ..settings() });
    let mut client = Client::connect(server.addr).await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert_refused(&client.response().await, 400, "http2_off");
    client.expect_close().await;
}

/// Nothing of a refused head has an effect: not its id, not its target, not the bytes after it.
#[tokio::test]
async fn bytes_after_a_refused_head_are_not_read_as_a_request() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let smuggled = "GET /hello HTTP/1.1\r\nhost: a\r\nx-request-id: smuggled\r\n\r\n";
    client
        .send(format!("GET /hello HTTP/1.1\r\nhost: a\r\nx-request-id: mine\r\nx y: z\r\n\r\n{smuggled}{smuggled}"))
        .await;
    assert_refused(&client.response().await, 400, "bad_header");
    client.expect_close().await;
}

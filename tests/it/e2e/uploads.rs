//! Bodies that a plugin reads in parts, while they arrive.

use super::{Site, setup_with_all_plugins};
use crate::all_plugins::assert_no_errors_logged;
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_api::Hash256;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::sleep,
};

const HEAD: &str =
    "POST /api/payloads HTTP/1.1\r\nhost: test\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

/// Sends these pieces with pauses between them, and returns the response.
async fn upload(gateway: &GatewayProcess, pieces: &[String]) -> String {
    let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
    stream.write_all(HEAD.as_bytes()).await.unwrap();
    for piece in pieces {
        // So that they arrive one by one. The gateway may have refused already.
        sleep(Duration::from_millis(20)).await;
        let _ = stream.write_all(piece.as_bytes()).await;
    }
    let mut response = Vec::new();
    let read = tokio::time::timeout(LIMIT, stream.read_to_end(&mut response)).await;
    assert!(read.is_ok(), "the gateway hangs up");
    String::from_utf8(response).unwrap()
}

async fn is_stored(gateway: &GatewayProcess, bytes: &str) -> bool {
    let path = format!("/api/payloads/{}", Hash256::keccak(bytes.as_bytes()));
    Site::of(gateway).get(&path).await.status == 200
}

#[tokio::test]
async fn a_body_in_pieces_is_stored_as_one() {
    let gateway = setup_with_all_plugins().start().await.unwrap();
    let response = upload(&gateway, &[chunk("one, "), chunk("two, "), chunk("three"), chunk("")]).await;
    let hash = Hash256::keccak(b"one, two, three").to_string();
    assert!(response.starts_with("HTTP/1.1 200") && response.contains(&hash), "{response}");
    assert!(is_stored(&gateway, "one, two, three").await);
    assert_no_errors_logged(&gateway);
}

/// No part of it is stored, and it is no fault of the plugin, which answers the next.
#[tokio::test]
async fn a_body_that_breaks_off_is_refused_as_the_client_s_fault() {
    let gateway = setup_with_all_plugins().set("http.body_timeout_ms", 300).start().await.unwrap();
    let half = "the first half";
    let slow = upload(&gateway, &[chunk(half)]).await;
    assert!(slow.starts_with("HTTP/1.1 408") && slow.contains("\"body_timeout\""), "{slow}");
    let malformed = upload(&gateway, &[chunk(half), "no chunk\r\n".to_owned()]).await;
    assert!(malformed.starts_with("HTTP/1.1 400") && malformed.contains("\"bad_body\""), "{malformed}");
    let large: Vec<String> = (0..5).map(|_| chunk(&"x".repeat(60_000))).collect();
    let large = upload(&gateway, &large).await;
    assert!(large.starts_with("HTTP/1.1 413") && large.contains("\"too_large\""), "{large}");
    // More often than faults of a plugin are forgiven.
    for _ in 0..25 {
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        stream.write_all(format!("{HEAD}{}", chunk(half)).as_bytes()).await.unwrap();
    }
    assert!(!is_stored(&gateway, half).await);
    let response = upload(&gateway, &[chunk("whole"), chunk("")]).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    let metrics = reqwest::get(format!("{}/metrics", gateway.admin_url())).await.unwrap().text().await.unwrap();
    let faults =
        metrics.lines().find(|line| line.contains("faults") && line.contains("payloads") && !line.ends_with(" 0"));
    assert_eq!(faults, None);
    assert_no_errors_logged(&gateway);
}

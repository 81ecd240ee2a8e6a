//! A body that a plugin reads in parts arrives no faster than it is read.

use super::secret_keys::with_keeper;
use crate::e2e::Site;
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::json;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

const MIB: usize = 1024 * 1024;
/// The largest that the configuration allows.
const BODY_BYTES: usize = 64 * MIB;

/// Writes zeros until `wanted` bytes are written, or for a second none can be; returns how many were.
async fn write(client: &mut TcpStream, wanted: usize) -> usize {
    let zeros = vec![b'0'; 64 * 1024];
    let mut written = 0;
    while written < wanted {
        let rest = &zeros[..zeros.len().min(wanted - written)];
        match timeout(Duration::from_secs(1), client.write(rest)).await {
            Ok(bytes) => written += bytes.unwrap(),
            Err(_elapsed) => break,
        }
    }
    written
}

#[tokio::test]
async fn a_handler_that_does_not_read_stops_the_client() {
    let setup = with_keeper(Setup::new(env!("CARGO_BIN_EXE_gateway-under-test")).unwrap());
    let setup = setup.set("http.body_bytes_max", BODY_BYTES);
    let mut gateway = setup.start().await.unwrap();
    let mut client = TcpStream::connect(gateway.address()).await.unwrap();
    let head = format!(
        "POST /api/keeper/uploads HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {BODY_BYTES}\r\n\r\n"
    );
    client.write_all(head.as_bytes()).await.unwrap();
    // The buffers of the two sockets hold some MiB.
    let stopped_at = write(&mut client, BODY_BYTES).await;
    assert!(stopped_at < 24 * MIB, "the client wrote {stopped_at} bytes that nobody read");

    let allowed = Site::of(&gateway).post("/api/keeper/uploads/go", &json!({})).await;
    assert_eq!(allowed.status, 204);
    assert_eq!(write(&mut client, BODY_BYTES - stopped_at).await, BODY_BYTES - stopped_at, "it goes on");
    let mut response = String::new();
    timeout(LIMIT, client.read_to_string(&mut response)).await.unwrap().unwrap();
    assert!(response.starts_with("HTTP/1.1 200") && response.ends_with(&BODY_BYTES.to_string()), "{response}");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

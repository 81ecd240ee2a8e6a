//! A thousand connections that are kept. Rule: each costs the gateway little, and none costs another client anything.

use super::abuse::connect;
use crate::e2e::{Site, in_time, setup};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const CONNECTIONS: usize = 1000;
/// What one may cost at most, buffers of the last request included.
const KIB_PER_CONNECTION_MAX: u64 = 32;

#[tokio::test]
async fn a_thousand_held_connections_cost_little_and_stop_no_one() {
    let gateway = setup()
        .set("http.connections_per_ip_max", 2 * CONNECTIONS)
        .set("limits.allow", "127.0.0.0/8")
        .start()
        .await
        .unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get("/api/health").await.status, 200);
    let address = gateway.address().parse().unwrap();
    let (before_kib, _) = gateway.memory_kib().unwrap();
    let mut held = Vec::new();
    for number in 0..CONNECTIONS {
        let mut stream = connect(address).await;
        // Some have asked, some are in the middle of it, some are silent.
        let request =
            ["GET /api/health HTTP/1.1\r\nhost: a\r\n\r\n", "GET /api/health HTTP/1.1\r\nhost:", ""][number % 3];
        stream.write_all(request.as_bytes()).await.unwrap();
        if request.ends_with("\r\n\r\n") {
            let mut answer = [0; 4096];
            let length = in_time(stream.read(&mut answer)).await.unwrap();
            assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "{number}");
        }
        held.push(stream);
    }
    assert_eq!(site.get("/api/health").await.status, 200);
    let (after_kib, _) = gateway.memory_kib().unwrap();
    let each_kib = after_kib.saturating_sub(before_kib) / held.len() as u64;
    println!("{each_kib} KiB for each of {CONNECTIONS} connections");
    assert!(each_kib <= KIB_PER_CONNECTION_MAX, "{each_kib} KiB for each of {CONNECTIONS} connections");
}

//! A thousand connections that are kept open and do little. Rule: each costs the gateway little, and none costs another client
//! anything.

use super::abuse::connect;
use crate::e2e::{Site, in_time, setup};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const CONNECTIONS: usize = 1000;
/// Files that test and gateway have open beside the connections.
const OTHER_FILES: usize = 200;
/// What one may cost at most, buffers of the last request included.
const KIB_PER_CONNECTION_MAX: u64 = 32;

/// Raises the limit of open files of this process, which the gateway inherits, as far as it needs and the system allows: many
/// systems begin with 1024. Returns how many connections fit.
fn connections_that_fit() -> usize {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let wanted = u64::try_from(CONNECTIONS + OTHER_FILES).unwrap();
    let limit = soft.max(wanted.min(hard));
    setrlimit(Resource::RLIMIT_NOFILE, limit, hard).unwrap();
    let fit = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(OTHER_FILES).min(CONNECTIONS);
    assert!(fit >= 50, "the hard limit of open files ({hard}) leaves nothing to test");
    fit
}

#[tokio::test]
async fn a_thousand_open_connections_cost_little_and_stop_no_one() {
    let connections = connections_that_fit();
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
    for number in 0..connections {
        let mut stream = connect(address).await;
        // Some have sent a request, some a part of one, some nothing.
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
    println!("{each_kib} KiB for each of {connections} connections");
    assert!(each_kib <= KIB_PER_CONNECTION_MAX, "{each_kib} KiB for each of {connections} connections");
}

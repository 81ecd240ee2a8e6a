//! Limits on open connections, per address and in total.

use super::fixture::{Client, eventually, settings, start};
use crate::listener::{ConnectionLimits, LimitReached};
use gateway_config::HttpConfig;
use std::net::SocketAddr;

/// Whether a new connection is served.
async fn is_served(addr: SocketAddr) -> bool {
    Client::connect(addr).await.get("/hello").await.status == 200
}

async fn open_connections(addr: SocketAddr, count: usize) -> Vec<Client> {
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        let mut client = Client::connect(addr).await;
        assert_eq!(client.get("/hello").await.status, 200);
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn connections_per_address_are_limited_and_freed() {
    let server = start(&HttpConfig { connections_per_ip_max: 3, ..settings() });
    let open = open_connections(server.addr, 3).await;
    let mut refused = Client::connect(server.addr).await;
    let response = refused.get("/hello").await;
    assert_eq!((response.status, &*response.code()), (503, "too_many_connections"));
    assert!(response.text().contains("your address"), "{}", response.text());
    assert!(response.header("retry-after").is_some() && response.header("x-request-id").is_some());
    refused.expect_close().await;
    drop(open);
    eventually("a permit is free", || is_served(server.addr)).await;
}

#[tokio::test]
async fn total_connections_are_limited() {
    let server = start(&HttpConfig { connections_max: 2, ..settings() });
    let mut open = open_connections(server.addr, 2).await;
    let response = Client::connect(server.addr).await.response().await;
    assert_eq!(response.status, 503, "refused before the client sent a request");
    assert_eq!(open[0].get("/hello").await.status, 200, "open connections stay open");
    drop(open);
    eventually("a permit is free", || is_served(server.addr)).await;
}

#[tokio::test]
async fn a_thousand_idle_connections_do_not_block_others() {
    let server = start(&HttpConfig { connections_per_ip_max: 2000, ..settings() });
    let mut open = open_connections(server.addr, 1000).await;
    assert!(is_served(server.addr).await);
    assert_eq!(open[999].get("/hello").await.status, 200);
    assert_eq!(open[0].get("/hello").await.status, 200);
}

#[test]
fn an_ipv6_network_counts_as_one_address_and_a_mapped_address_as_ipv4() {
    let limits = ConnectionLimits::new(10, 1);
    let first = limits.try_acquire("2001:db8::1".parse().unwrap()).unwrap();
    assert_eq!(limits.try_acquire("2001:db8::ffff:2".parse().unwrap()).unwrap_err(), LimitReached::Address);
    let _other_network = limits.try_acquire("2001:db8:0:1::1".parse().unwrap()).unwrap();
    let _ipv4 = limits.try_acquire("10.0.0.1".parse().unwrap()).unwrap();
    assert_eq!(limits.try_acquire("::ffff:10.0.0.1".parse().unwrap()).unwrap_err(), LimitReached::Address);
    drop(first);
    let _again = limits.try_acquire("2001:db8::2".parse().unwrap()).unwrap();
}

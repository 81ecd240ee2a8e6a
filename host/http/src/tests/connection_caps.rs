//! Caps on open connections, per address and in total.

use super::fixture::{Client, eventually, settings, start};
use crate::listener::{ConnectionLimits, LimitReached};
use gateway_config::HttpConfig;
use std::net::SocketAddr;

/// Whether a new connection is served.
async fn is_served(addr: SocketAddr) -> bool {
    Client::connect(addr).await.get("/hello").await.status == 200
}

async fn hold(addr: SocketAddr, count: usize) -> Vec<Client> {
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        let mut client = Client::connect(addr).await;
        assert_eq!(client.get("/hello").await.status, 200);
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn one_address_has_so_many_connections_and_gets_them_back() {
    let server = start(&HttpConfig { connections_per_ip_max: 3, ..settings() });
    let held = hold(server.addr, 3).await;
    let mut refused = Client::connect(server.addr).await;
    let answer = refused.get("/hello").await;
    assert_eq!((answer.status, &*answer.code()), (503, "too_many_connections"));
    assert!(answer.text().contains("your address"), "{}", answer.text());
    assert!(answer.header("retry-after").is_some() && answer.header("x-request-id").is_some());
    refused.ended().await;
    drop(held);
    eventually("a slot is free", || is_served(server.addr)).await;
}

#[tokio::test]
async fn the_gateway_has_so_many_connections() {
    let server = start(&HttpConfig { connections_max: 2, ..settings() });
    let mut held = hold(server.addr, 2).await;
    let answer = Client::connect(server.addr).await.answer().await;
    assert_eq!(answer.status, 503, "told without having asked");
    assert_eq!(held[0].get("/hello").await.status, 200, "those that are in stay in");
    drop(held);
    eventually("a slot is free", || is_served(server.addr)).await;
}

#[tokio::test]
async fn a_thousand_idle_connections_stop_no_one() {
    let server = start(&HttpConfig { connections_per_ip_max: 2000, ..settings() });
    let mut held = hold(server.addr, 1000).await;
    assert!(is_served(server.addr).await);
    assert_eq!(held[999].get("/hello").await.status, 200);
    assert_eq!(held[0].get("/hello").await.status, 200);
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

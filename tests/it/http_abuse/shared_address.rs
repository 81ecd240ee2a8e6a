//! Well-behaved clients at the address of an abusive one (behind the same NAT, say). Limits per address are shared:
//! what the abuser uses up, clients at its address lack, and others do not.

use super::abuse::{ABUSIVE, BEHAVED, ask, connect, says};
use crate::e2e::{Site, setup};
use gateway_tests::process::LIMIT;
use plugin_testing::TestGateway;
use std::net::SocketAddr;

const HEALTH: &str = "/api/health";

/// What a new client at the abuser's address receives. (The refusal comes before the request, which HTTP libraries take
/// for an error.)
async fn call(gateway: SocketAddr) -> Vec<u8> {
    ask(gateway, b"GET /api/health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await
}

#[tokio::test]
async fn an_address_without_free_connections_keeps_those_it_has_and_gets_no_more() {
    const CONNECTIONS: usize = 20;
    let setup = setup().set("http.connections_per_ip_max", CONNECTIONS).set("limits.allow", "127.0.0.0/8");
    let gateway = setup.start().await.unwrap();
    let address = gateway.address().parse().unwrap();
    let connected = Site::from_address(&gateway, ABUSIVE);
    assert_eq!(connected.get(HEALTH).await.status, 200);
    let mut held = Vec::new();
    for _ in 1..CONNECTIONS {
        held.push(connect(address).await);
    }
    // The gateway may not yet have accepted the last of them.
    TestGateway::eventually(LIMIT, "the address has no connection left", || async {
        says(&call(address).await, "503")
    })
    .await;
    let refused = call(address).await;
    assert!(
        String::from_utf8_lossy(&refused).contains("\"too_many_connections\""),
        "{}",
        String::from_utf8_lossy(&refused)
    );
    assert_eq!(connected.get(HEALTH).await.status, 200, "on the connection that it has");
    assert_eq!(Site::from_address(&gateway, BEHAVED).get(HEALTH).await.status, 200);
    drop(held);
    TestGateway::eventually(LIMIT, "a connection is free again", || async { says(&call(address).await, "200") }).await;
}

#[tokio::test]
async fn an_address_that_called_too_often_is_limited_for_all_its_clients() {
    let setup = setup().set("limits.per_ip_per_minute", 10).set("limits.allow", "10.0.0.0/8");
    let gateway = setup.start().await.unwrap();
    let [abuser, neighbour] = [(); 2].map(|()| Site::from_address(&gateway, ABUSIVE));
    let path = "/api/hello/world";
    let mut served = 0;
    while abuser.get(path).await.status == 200 {
        served += 1;
        assert!(served < 100, "the address is not limited");
    }
    let refused = neighbour.get(path).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (429, Some("rate_limited")), "{}", refused.text());
    assert!(refused.header("retry-after").parse::<u32>().is_ok());
    assert_eq!(Site::from_address(&gateway, BEHAVED).get(path).await.status, 200);
}

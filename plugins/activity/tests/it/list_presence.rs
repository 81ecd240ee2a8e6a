//! `GET /api/presence`

use super::{PRESENCE, author, finish, gateways, ping, read, wait};
use plugin_testing::{TestGateway, Wallet, json};

async fn online(gateway: &TestGateway) -> Vec<String> {
    let list = read(gateway, PRESENCE).await;
    list["items"].as_array().unwrap().iter().map(|item| item["address"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn no_address_is_online_at_first() {
    for gateway in gateways().await {
        let now = gateway.now_s();
        assert_eq!(read(&gateway, PRESENCE).await, json!({ "items": [], "ttl": 300, "now": now }));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_latest_ping_comes_first_and_lasts_300_seconds() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let (a, b) = (alice.address(), bob.address());
        let now = gateway.now_s();
        ping(&gateway, &alice, json!({ "status": "at work" })).await;
        let item = read(&gateway, PRESENCE).await["items"][0].clone();
        let mut expected = author(a);
        for (member, value) in [("status", json!("at work")), ("lastPing", json!(now)), ("since", json!(now))] {
            expected[member] = value;
        }
        assert_eq!(item, expected);
        wait(&gateway, 100).await;
        ping(&gateway, &bob, json!({})).await;
        assert_eq!(online(&gateway).await, [b, a]);
        wait(&gateway, 200).await;
        assert_eq!(online(&gateway).await, [b, a], "300 seconds after alice's ping");
        wait(&gateway, 1).await;
        assert_eq!(online(&gateway).await, [b], "a second later");
        ping(&gateway, &alice, json!({})).await;
        assert_eq!(online(&gateway).await, [a, b]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_one_second_the_lower_address_comes_first() {
    for gateway in gateways().await {
        let mut addresses = Vec::new();
        for number in 1..=5 {
            let wallet = Wallet::new(number);
            ping(&gateway, &wallet, json!({})).await;
            addresses.push(wallet.address().to_owned());
        }
        addresses.sort_unstable_by_key(|address| address.to_lowercase());
        assert_eq!(online(&gateway).await, addresses);
        finish(gateway).await;
    }
}

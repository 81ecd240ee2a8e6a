//! `GET /api/presence`

use super::{PRESENCE, author, finish, houses, ping, read, wait};
use plugin_testing::{TestGateway, Wallet, json};

async fn online(house: &TestGateway) -> Vec<String> {
    let list = read(house, PRESENCE).await;
    list["items"].as_array().unwrap().iter().map(|item| item["address"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn nobody_is_here_at_first() {
    for house in houses().await {
        let now = house.now_s();
        assert_eq!(read(&house, PRESENCE).await, json!({ "items": [], "ttl": 300, "now": now }));
        finish(house).await;
    }
}

#[tokio::test]
async fn the_latest_ping_comes_first_and_lasts_300_seconds() {
    for house in houses().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let (a, b) = (alice.address(), bob.address());
        let now = house.now_s();
        ping(&house, &alice, json!({ "status": "at work" })).await;
        let item = read(&house, PRESENCE).await["items"][0].clone();
        let mut expected = author(a);
        for (member, value) in [("status", json!("at work")), ("lastPing", json!(now)), ("since", json!(now))] {
            expected[member] = value;
        }
        assert_eq!(item, expected);
        wait(&house, 100).await;
        ping(&house, &bob, json!({})).await;
        assert_eq!(online(&house).await, [b, a]);
        wait(&house, 200).await;
        assert_eq!(online(&house).await, [b, a], "300 seconds after alice's ping");
        wait(&house, 1).await;
        assert_eq!(online(&house).await, [b], "a second later");
        ping(&house, &alice, json!({})).await;
        assert_eq!(online(&house).await, [a, b]);
        finish(house).await;
    }
}

#[tokio::test]
async fn of_one_second_the_lower_address_comes_first() {
    for house in houses().await {
        let mut addresses = Vec::new();
        for number in 1..=5 {
            let wallet = Wallet::new(number);
            ping(&house, &wallet, json!({})).await;
            addresses.push(wallet.address().to_owned());
        }
        addresses.sort_unstable_by_key(|address| address.to_lowercase());
        assert_eq!(online(&house).await, addresses);
        finish(house).await;
    }
}

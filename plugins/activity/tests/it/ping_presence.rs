//! `POST /api/presence`

use super::{PRESENCE, author, finish, gateways, ping, read, wait};
use plugin_testing::{Wallet, json};

const DAY_S: u64 = 86_400;

#[tokio::test]
async fn a_ping_says_until_when_it_lasts() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let mut expected = author(alice.address());
        let numbers = [("lastPing", now), ("since", now), ("ttl", 300), ("expiresAt", now + 300)];
        numbers.into_iter().for_each(|(member, value)| expected[member] = json!(value));
        expected["status"] = json!("at work");
        assert_eq!(ping(&gateway, &alice, json!({ "status": " at work " })).await, expected);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_stay_goes_on_until_a_day_without_a_ping() {
    for gateway in gateways().await {
        let (alice, arrived) = (Wallet::new(1), gateway.now_s());
        ping(&gateway, &alice, json!({ "status": "a" })).await;
        wait(&gateway, DAY_S - 1).await;
        let again = ping(&gateway, &alice, json!({})).await;
        assert_eq!((&again["since"], &again["lastPing"]), (&json!(arrived), &json!(gateway.now_s())));
        assert_eq!(again["status"], "");
        wait(&gateway, DAY_S).await;
        let anew = ping(&gateway, &alice, json!({})).await;
        assert_eq!(anew["since"], json!(gateway.now_s()));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn limits_hold_at_the_edge_for_characters_of_every_length() {
    for gateway in gateways().await {
        for (number, (character, fits)) in [("a", 140), ("é", 140), ("€", 140), ("😀", 70)].into_iter().enumerate()
        {
            let alice = Wallet::new(number as u64 + 1);
            let status = character.repeat(fits);
            let payload = json!({ "status": format!("{status}a") });
            let response = gateway.post_signed(PRESENCE, &alice, "presence.ping", payload).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (400, Some("bad_request")), "{character}");
            assert_eq!(ping(&gateway, &alice, json!({ "status": status })).await["status"], status);
        }
        for (number, payload) in (6..).zip([json!({}), json!({ "status": null }), json!({ "status": "  " })]) {
            assert_eq!(ping(&gateway, &Wallet::new(number), payload).await["status"], "");
        }
        for payload in [json!({ "status": 5 }), json!({ "status": ["a"] }), json!({ "status": "\u{0}" })] {
            let response = gateway.post_signed(PRESENCE, &Wallet::new(9), "presence.ping", payload.clone()).await;
            assert_eq!(response.status, 400, "{payload}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_ping_is_signed_and_counts_once() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let response = gateway.send("POST", PRESENCE, &[("content-type", "application/json")], "{}").await;
        assert_eq!(response.status, 401, "{}", response.text());
        let writes = (0..50).map(|_| gateway.post_signed(PRESENCE, &alice, "presence.ping", json!({})));
        let responses = futures_util::future::join_all(writes).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (200, [409; 49].as_slice()));
        let early = gateway.post_signed(PRESENCE, &alice, "presence.ping", json!({ "status": "early" })).await;
        assert_eq!((early.status, early.json()["code"].as_str()), (429, Some("rate_limited")));
        assert_eq!(read(&gateway, PRESENCE).await["items"][0]["status"], "");
        finish(gateway).await;
    }
}

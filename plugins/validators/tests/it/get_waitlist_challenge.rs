//! `GET /api/validators/waitlist/challenge`

use super::{WAITLIST, challenge, fields, finish, gateways, limited_gateways, with};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn the_text_holds_every_field() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let members = json!({ "platform": "BOTH", "seats": "3", "contact": "t.me/alice_b", "consent": "on" });
        let response = challenge(&gateway, &with(fields(&alice), members)).await;
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"), "{}", response.text());
        let view = response.json();
        let expires = gateway.now_s() + 600;
        let lines: Vec<&str> = view["message"].as_str().unwrap().lines().collect();
        let nonce = view["nonce"].as_str().unwrap();
        assert_eq!(lines[0], "Service validator waitlist");
        let address = format!("address: {}", alice.address());
        let (nonce_line, expires_line) = (format!("nonce: {nonce}"), format!("expires: {expires}"));
        let expected =
            [&address, "platform: both", "seats: 3", "contact: @alice_b", "consent: yes", &nonce_line, &expires_line];
        assert_eq!(lines[3..], expected);
        assert!(lines[2].starts_with("site: ") && lines.len() == 10, "{lines:?}");
        assert!(nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!((&view["expires"], &view["address"]), (&json!(expires), &json!(alice.address())));
        let other = challenge(&gateway, &fields(&alice)).await.json();
        assert_ne!(other["nonce"], view["nonce"]);
        assert!(other["message"].as_str().unwrap().contains("\ncontact: none\nconsent: no\n"));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_wrong_field_is_named() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        for (members, code) in [
            (json!({ "address": "0x12" }), "bad_address"),
            (json!({ "address": "0x0000000000000000000000000000000000000000" }), "bad_address"),
            (json!({ "address": "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" }), "bad_checksum"),
            (json!({ "platform": "mac" }), "bad_platform"),
            (json!({ "seats": 11 }), "bad_seats"),
            (json!({ "contact": "x", "consent": true }), "bad_contact"),
            (json!({ "contact": "ann@a.example" }), "consent_required"),
            (json!({ "contact": "ann@a.example", "consent": "maybe" }), "consent_required"),
        ] {
            let response = challenge(&gateway, &with(fields(&alice), members.clone())).await;
            assert_eq!((response.status, response.code()), (400, code.to_owned()), "{members}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_client_asks_sixty_times_a_minute() {
    for gateway in limited_gateways().await {
        let (taken, response) = gateway.until_limited("GET", &format!("{WAITLIST}/challenge")).await;
        assert_eq!(taken, 60);
        assert_eq!((response.status, response.code()), (429, "rate_limited".to_owned()), "{}", response.text());
        assert!(response.header("retry-after").parse::<u32>().is_ok(), "{:?}", response.headers);
        finish(gateway).await;
    }
}

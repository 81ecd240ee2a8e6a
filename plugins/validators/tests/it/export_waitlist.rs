//! `GET /api/validators/waitlist/export`

use super::{WAITLIST, fields, finish, houses, houses_with, join, limited_houses, with};
use plugin_testing::{Answer, TestGateway, Wallet, json};
use std::time::Duration;

async fn export(house: &TestGateway, wallet: &Wallet, action: &str, query: &str) -> Answer {
    let headers = wallet.signed_headers(action, house.now_s(), "");
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = house.send("GET", &format!("{WAITLIST}/export{query}"), &headers, "").await;
    house.clock().advance(Duration::from_secs(2)).await;
    answer
}

#[tokio::test]
async fn operators_get_every_entry_with_its_contact() {
    let (operator, ann, bob) = (Wallet::new(9), Wallet::new(1), Wallet::new(2));
    for house in houses_with(json!({ "operators": [operator.address().to_lowercase()] })).await {
        let begun = house.now_s();
        let members = json!({ "contact": "Ann@Mail.EXAMPLE", "consent": true, "platform": "both", "seats": 3 });
        assert_eq!(join(&house, &ann, with(fields(&ann), members)).await.0, 201);
        house.clock().advance(Duration::from_secs(5)).await;
        assert_eq!(join(&house, &bob, with(fields(&bob), json!({ "contact": "@bob_b", "consent": "1" }))).await.0, 201);
        let exported_at = house.now_s();
        let answer = export(&house, &operator, "validators.export", "").await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{}", answer.text());
        let export_view = answer.json();
        assert_eq!((&export_view["total"], &export_view["seats"]), (&json!(2), &json!(5)));
        assert_eq!(export_view["exportedBy"], operator.address());
        assert_eq!(export_view["exportedAt"], exported_at);
        let first = json!({
            "address": ann.address(), "platform": "both", "seats": 3, "contact": "Ann@mail.example",
            "contactKind": "email", "consent": true, "createdAt": begun, "verified": true, "signedAt": begun
        });
        assert_eq!((&export_view["items"][0], &export_view["items"][1]["contact"]), (&first, &json!("@bob_b")));

        let answer = export(&house, &operator, "validators.export", "?format=csv").await;
        assert!(answer.header("content-type").starts_with("text/csv"), "{:?}", answer.headers);
        assert!(answer.header("content-disposition").starts_with("attachment"));
        let text = answer.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("\"address\",\"platform\""));
        assert!(
            lines[1].contains("\"Ann@mail.example\",\"email\",\"true\"")
                && lines[2].contains("\"'@bob_b\",\"telegram\"")
        );
        finish(house).await;
    }
}

#[tokio::test]
async fn nobody_else_may_and_a_signature_works_once() {
    let (operator, other) = (Wallet::new(9), Wallet::new(1));
    for house in houses_with(json!({ "operators": [operator.address()] })).await {
        let status = |answer: &Answer| (answer.status, answer.code());
        let answer = export(&house, &other, "validators.export", "").await;
        assert_eq!(status(&answer), (403, "not_operator".to_owned()));
        assert_eq!(house.get(&format!("{WAITLIST}/export")).await.status, 401);
        assert_eq!(export(&house, &operator, "inbox.read", "").await.status, 401);
        let answer = export(&house, &operator, "validators.export", "?format=xml").await;
        assert_eq!(status(&answer), (400, "bad_format".to_owned()));

        let headers = operator.signed_headers("validators.export", house.now_s(), "");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = format!("{WAITLIST}/export");
        assert_eq!(house.send("GET", &path, &headers, "").await.status, 200);
        house.clock().advance(Duration::from_secs(2)).await;
        let again = house.send("GET", &path, &headers, "").await;
        assert_eq!(status(&again), (409, "replay".to_owned()));
        finish(house).await;
    }
}

#[tokio::test]
async fn without_operators_there_is_no_export() {
    for house in houses().await {
        let answer = export(&house, &Wallet::new(1), "validators.export", "").await;
        assert_eq!((answer.status, answer.code()), (503, "disabled".to_owned()));
        finish(house).await;
    }
}

#[tokio::test]
async fn one_client_asks_thirty_times_a_minute() {
    for house in limited_houses().await {
        let (taken, answer) = house.until_limited("GET", &format!("{WAITLIST}/export")).await;
        assert!((30..60).contains(&taken), "{taken}");
        assert_eq!((answer.status, answer.code()), (429, "rate_limited".to_owned()), "{}", answer.text());
        assert!(answer.header("retry-after").parse::<u32>().is_ok(), "{:?}", answer.headers);
        finish(house).await;
    }
}

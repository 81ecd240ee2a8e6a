//! `GET /api/validators/waitlist/export`

use super::{WAITLIST, fields, finish, gateways, gateways_with, join, limited_gateways, with};
use plugin_testing::{TestGateway, TestResponse, Wallet, json};
use std::time::Duration;

async fn export(gateway: &TestGateway, wallet: &Wallet, action: &str, query: &str) -> TestResponse {
    let headers = wallet.signed_headers(action, gateway.now_s(), "");
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let response = gateway.send("GET", &format!("{WAITLIST}/export{query}"), &headers, "").await;
    gateway.clock().advance(Duration::from_secs(2)).await;
    response
}

#[tokio::test]
async fn operators_get_every_entry_with_its_contact() {
    let (operator, ann, bob) = (Wallet::new(9), Wallet::new(1), Wallet::new(2));
    for gateway in gateways_with(json!({ "operators": [operator.address().to_lowercase()] })).await {
        let begun = gateway.now_s();
        let members = json!({ "contact": "Ann@Mail.EXAMPLE", "consent": true, "platform": "both", "seats": 3 });
        assert_eq!(join(&gateway, &ann, with(fields(&ann), members)).await.0, 201);
        gateway.clock().advance(Duration::from_secs(5)).await;
        assert_eq!(
            join(&gateway, &bob, with(fields(&bob), json!({ "contact": "@bob_b", "consent": "1" }))).await.0,
            201
        );
        let exported_at = gateway.now_s();
        let response = export(&gateway, &operator, "validators.export", "").await;
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"), "{}", response.text());
        let export_view = response.json();
        assert_eq!((&export_view["total"], &export_view["seats"]), (&json!(2), &json!(5)));
        assert_eq!(export_view["exportedBy"], operator.address());
        assert_eq!(export_view["exportedAt"], exported_at);
        let first = json!({
            "address": ann.address(), "platform": "both", "seats": 3, "contact": "Ann@mail.example",
            "contactKind": "email", "consent": true, "createdAt": begun, "verified": true, "signedAt": begun
        });
        assert_eq!((&export_view["items"][0], &export_view["items"][1]["contact"]), (&first, &json!("@bob_b")));

        let response = export(&gateway, &operator, "validators.export", "?format=csv").await;
        assert!(response.header("content-type").starts_with("text/csv"), "{:?}", response.headers);
        assert!(response.header("content-disposition").starts_with("attachment"));
        let text = response.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("\"address\",\"platform\""));
        assert!(
            lines[1].contains("\"Ann@mail.example\",\"email\",\"true\"")
                && lines[2].contains("\"'@bob_b\",\"telegram\"")
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn only_operators_export_and_a_signature_works_once() {
    let (operator, other) = (Wallet::new(9), Wallet::new(1));
    for gateway in gateways_with(json!({ "operators": [operator.address()] })).await {
        let status = |response: &TestResponse| (response.status, response.code());
        let response = export(&gateway, &other, "validators.export", "").await;
        assert_eq!(status(&response), (403, "not_operator".to_owned()));
        assert_eq!(gateway.get(&format!("{WAITLIST}/export")).await.status, 401);
        assert_eq!(export(&gateway, &operator, "inbox.read", "").await.status, 401);
        let response = export(&gateway, &operator, "validators.export", "?format=xml").await;
        assert_eq!(status(&response), (400, "bad_format".to_owned()));

        let headers = operator.signed_headers("validators.export", gateway.now_s(), "");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = format!("{WAITLIST}/export");
        assert_eq!(gateway.send("GET", &path, &headers, "").await.status, 200);
        gateway.clock().advance(Duration::from_secs(2)).await;
        let again = gateway.send("GET", &path, &headers, "").await;
        assert_eq!(status(&again), (409, "replay".to_owned()));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn without_operators_there_is_no_export() {
    let (unset, empty) = (gateways().await, gateways_with(json!({ "operators": [] })).await);
    for gateway in unset.into_iter().chain(empty) {
        let signed = export(&gateway, &Wallet::new(1), "validators.export", "").await;
        let unsigned = gateway.get(&format!("{WAITLIST}/export")).await;
        for response in [signed, unsigned] {
            assert_eq!((response.status, response.code()), (503, "disabled".to_owned()), "{}", response.text());
        }
        let document = gateway.get("/api/openapi.json").await.json();
        let operation = &document["paths"][format!("{WAITLIST}/export")]["get"];
        assert_eq!(operation["x-service-action"], "validators.export");
        assert!(operation["responses"]["401"].is_object(), "{operation}");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_client_asks_thirty_times_a_minute() {
    for gateway in limited_gateways().await {
        let (taken, response) = gateway.until_limited("GET", &format!("{WAITLIST}/export")).await;
        assert_eq!(taken, 30);
        assert_eq!((response.status, response.code()), (429, "rate_limited".to_owned()), "{}", response.text());
        assert!(response.header("retry-after").parse::<u32>().is_ok(), "{:?}", response.headers);
        finish(gateway).await;
    }
}

//! `POST /api/hello/guests`.

use crate::{close, gateways, sign};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_signed_message_is_listed() {
    for gateway in gateways().await {
        let wallet = Wallet::new(1);
        let response = sign(&gateway, &wallet, "  Nice house!  ").await;
        assert_eq!(response.status, 201, "{}", response.text());
        let guest = response.json();
        assert_eq!(guest["address"], wallet.address());
        assert_eq!(guest["message"], "Nice house!");
        assert_eq!(guest["createdAt"], gateway.now_s());

        let book = gateway.get("/api/hello/guests").await.json();
        assert_eq!(book, json!({ "items": [guest], "total": 1 }));
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_message_publishes_an_event() {
    for gateway in gateways().await {
        let wallet = Wallet::new(1);
        let guest = sign(&gateway, &wallet, "Nice house!").await.json();
        let events = gateway.events().await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].kind, "hello.sign");
        assert_eq!(events[0].actor.as_deref(), Some(wallet.address()));
        assert_eq!(events[0].data, json!({ "guestId": guest["id"], "message": "Nice house!" }));
        close(gateway).await;
    }
}

#[tokio::test]
async fn invalid_messages_are_refused_and_not_stored() {
    let too_long = "x".repeat(281);
    for gateway in gateways().await {
        for (message, code) in [(" \n ", "empty_message"), (too_long.as_str(), "long_message")] {
            let response = sign(&gateway, &Wallet::new(1), message).await;
            assert_eq!((response.status, response.code().as_str()), (400, code), "{}", response.text());
        }
        assert_eq!(gateway.get("/api/hello/guests").await.json()["total"], 0);
        assert_eq!(gateway.events().await.len(), 0);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_message_without_a_signature_is_refused() {
    for gateway in gateways().await {
        let response = gateway.send("POST", "/api/hello/guests", &[], r#"{"message":"Nice house!"}"#).await;
        assert_eq!(response.status, 401, "{}", response.text());
        assert_eq!(gateway.get("/api/hello/guests").await.json()["total"], 0);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_message_cannot_be_sent_twice_or_in_another_name() {
    for gateway in gateways().await {
        let signed = Wallet::new(1).signed_body("hello.sign", gateway.now_s(), &json!({ "message": "Nice house!" }));
        let first = gateway.send("POST", "/api/hello/guests", &[], signed.to_string()).await;
        assert_eq!(first.status, 201, "{}", first.text());
        let again = gateway.send("POST", "/api/hello/guests", &[], signed.to_string()).await;
        assert_eq!((again.status, again.code().as_str()), (409, "replay"));

        let mut stolen =
            Wallet::new(2).signed_body("hello.sign", gateway.now_s(), &json!({ "message": "Nice house!" }));
        stolen["address"] = json!(Wallet::new(3).address());
        let refused = gateway.send("POST", "/api/hello/guests", &[], stolen.to_string()).await;
        assert_eq!((refused.status, refused.code().as_str()), (401, "sig_mismatch"));
        assert_eq!(gateway.get("/api/hello/guests").await.json()["total"], 1);
        close(gateway).await;
    }
}

/// The network's figures are about its services, and this is a tutorial.
#[tokio::test]
async fn guests_are_in_no_statistics() {
    for gateway in gateways().await {
        assert_eq!(sign(&gateway, &Wallet::new(1), "I was here").await.status, 201);
        assert_eq!(gateway.get("/api/stats").await.json(), json!({}));
        let manifest = gateway.get("/.well-known/service.json").await.json();
        assert_eq!(manifest["live"]["stats"], json!({}));
        close(gateway).await;
    }
}

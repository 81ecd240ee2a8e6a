//! `POST /api/hello/guests`.

use crate::{close, houses, sign};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_signed_message_stands_in_the_book() {
    for house in houses().await {
        let wallet = Wallet::new(1);
        let answer = sign(&house, &wallet, "  Nice house!  ").await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        let guest = answer.json();
        assert_eq!(guest["address"], wallet.address());
        assert_eq!(guest["message"], "Nice house!");
        assert_eq!(guest["createdAt"], house.now_s());

        let book = house.get("/api/hello/guests").await.json();
        assert_eq!(book, json!({ "items": [guest], "total": 1 }));
        close(house).await;
    }
}

#[tokio::test]
async fn everyone_who_listens_hears_of_it() {
    for house in houses().await {
        let wallet = Wallet::new(1);
        let guest = sign(&house, &wallet, "Nice house!").await.json();
        let events = house.events().await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].kind, "hello.sign");
        assert_eq!(events[0].actor.as_deref(), Some(wallet.address()));
        assert_eq!(events[0].data, json!({ "guestId": guest["id"], "message": "Nice house!" }));
        close(house).await;
    }
}

#[tokio::test]
async fn messages_that_break_the_rules_leave_no_trace() {
    let too_long = "x".repeat(281);
    for house in houses().await {
        for (message, code) in [(" \n ", "empty_message"), (too_long.as_str(), "long_message")] {
            let answer = sign(&house, &Wallet::new(1), message).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, code), "{}", answer.text());
        }
        assert_eq!(house.get("/api/hello/guests").await.json()["total"], 0);
        assert_eq!(house.events().await.len(), 0);
        close(house).await;
    }
}

#[tokio::test]
async fn a_message_without_a_signature_is_refused() {
    for house in houses().await {
        let answer = house.send("POST", "/api/hello/guests", &[], r#"{"message":"Nice house!"}"#).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        assert_eq!(house.get("/api/hello/guests").await.json()["total"], 0);
        close(house).await;
    }
}

#[tokio::test]
async fn a_message_cannot_be_sent_twice_or_in_another_name() {
    for house in houses().await {
        let signed = Wallet::new(1).signed_body("hello.sign", house.now_s(), &json!({ "message": "Nice house!" }));
        let first = house.send("POST", "/api/hello/guests", &[], signed.to_string()).await;
        assert_eq!(first.status, 201, "{}", first.text());
        let again = house.send("POST", "/api/hello/guests", &[], signed.to_string()).await;
        assert_eq!((again.status, again.code().as_str()), (409, "replay"));

        let mut stolen = Wallet::new(2).signed_body("hello.sign", house.now_s(), &json!({ "message": "Nice house!" }));
        stolen["address"] = json!(Wallet::new(3).address());
        let refused = house.send("POST", "/api/hello/guests", &[], stolen.to_string()).await;
        assert_eq!((refused.status, refused.code().as_str()), (401, "sig_mismatch"));
        assert_eq!(house.get("/api/hello/guests").await.json()["total"], 1);
        close(house).await;
    }
}

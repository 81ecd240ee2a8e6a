//! `POST /api/messages`

use super::{
    MESSAGES, Site, named, nameless,
    script::{RETIRED, registered_by, status, transferred_by},
    sites,
};
use plugin_testing::{TestResponse, Value, Wallet, json};
use std::time::Duration;

async fn refused(site: &Site, payload: Value) -> (u16, String) {
    let response = site.post(&Wallet::new(1), payload).await;
    assert!(!response.json()["error"].as_str().unwrap().is_empty());
    assert!(!response.json()["hint"].as_str().unwrap().is_empty());
    (response.status, response.code())
}

#[tokio::test]
async fn a_message_is_answered_as_both_sides_read_it() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(vec![registered_by(7, bob.address(), "Bob's", "")]).await {
        let now = site.gateway.now_s();
        let body = " Grüße 👋\n\"quoted\" \u{1}";
        let message =
            site.send(&alice, json!({ "to": bob.address().to_lowercase(), "body": body, "subject": " Hi " })).await;
        assert_eq!(
            message,
            json!({
                "id": message["id"], "from": nameless(&alice), "to": named(&bob, "Bob's", 7), "subject": "Hi",
                "body": body, "createdAt": now
            })
        );
        for wallet in [&alice, &bob] {
            assert_eq!(site.inbox(wallet, "").await["items"], json!([message]));
        }
        for payload in [json!({ "to": 7, "body": "b" }), json!({ "to": 7, "body": "b", "subject": null })] {
            site.wait(2).await;
            assert_eq!(site.send(&alice, payload).await["subject"], "");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_agents_id_stands_for_its_owner() {
    let (alice, bob, carol) = (Wallet::new(1), Wallet::new(2), Wallet::new(3));
    for site in sites(vec![registered_by(7, bob.address(), "seven", "")]).await {
        for to in [json!(7), json!("7")] {
            assert_eq!(site.send(&alice, json!({ "to": to, "body": "b" })).await["to"], named(&bob, "seven", 7));
            site.wait(2).await;
        }
        // The current owner receives it.
        site.mine(vec![transferred_by(7, bob.address(), carol.address()), status(7, RETIRED)]).await;
        assert_eq!(site.send(&alice, json!({ "to": 7, "body": "b" })).await["to"], named(&carol, "seven", 7));
        site.close().await;
    }
}

#[tokio::test]
async fn the_event_never_contains_the_body() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let now = site.gateway.now_s();
        let message = site.send(&alice, json!({ "to": bob.address(), "body": "secret", "subject": "S" })).await;
        let events = site.gateway.events().await;
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!((event.kind.as_str(), event.ts), ("message.send", now));
        assert_eq!(event.actor.as_deref(), Some(alice.address()));
        let subject = event.subject.as_ref().unwrap();
        assert_eq!((subject.kind.as_str(), subject.id.clone()), ("message", message["id"].to_string()));
        assert_eq!(event.data, json!({ "messageId": message["id"], "to": bob.address(), "subject": "S" }));
        site.close().await;
    }
}

#[tokio::test]
async fn limits_hold_at_the_edge_for_characters_of_every_length() {
    for site in sites(Vec::new()).await {
        let to = Wallet::new(2).address().to_owned();
        for (character, units) in [("a", 1), ("é", 1), ("€", 1), ("😀", 2)] {
            let subject = character.repeat(200 / units);
            let fits = character.repeat(16_384 / character.len());
            let body = format!("{fits}{}", "a".repeat(16_384 - fits.len()));
            let message = site.send(&Wallet::new(1), json!({ "to": to, "body": body, "subject": subject })).await;
            assert_eq!((&message["subject"], &message["body"]), (&json!(subject), &json!(body)));
            site.wait(2).await;
            let longer = json!({ "to": to, "body": "b", "subject": format!("{subject}a") });
            assert_eq!(refused(&site, longer).await, (400, "bad_request".to_owned()), "{character}");
            let longer = json!({ "to": to, "body": format!("{body}a") });
            assert_eq!(refused(&site, longer).await, (413, "too_large".to_owned()), "{character}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_invalid_message_is_refused_and_not_stored() {
    for site in sites(Vec::new()).await {
        let to = Wallet::new(2).address().to_owned();
        for payload in [
            json!({}),
            json!({ "to": to }),
            json!({ "body": "b" }),
            json!({ "to": to, "body": "" }),
            json!({ "to": to, "body": " \n\u{3000}" }),
            json!({ "to": to, "body": "\u{a0}" }),
            json!({ "to": to, "body": 7 }),
            json!({ "to": to, "body": "a\u{0}b" }),
            json!({ "to": to, "body": "b", "subject": 7 }),
            json!({ "to": null, "body": "b" }),
            json!({ "to": 0, "body": "b" }),
            json!({ "to": -1, "body": "b" }),
            json!({ "to": 1.5, "body": "b" }),
            json!({ "to": "0x12", "body": "b" }),
            json!({ "to": "bob", "body": "b" }),
            json!({ "to": "", "body": "b" }),
            json!({ "to": "0x", "body": "b" }),
            json!({ "to": "7 ", "body": "b" }),
            json!({ "to": true, "body": "b" }),
            json!({ "to": [1], "body": "b" }),
            json!({ "to": { "agentId": 1 }, "body": "b" }),
            json!({ "to": to.trim_start_matches("0x"), "body": "b" }),
            json!({ "to": "99999999999999999999", "body": "b" }),
        ] {
            assert_eq!(refused(&site, payload.clone()).await, (400, "bad_request".to_owned()), "{payload}");
        }
        assert!(site.gateway.events().await.is_empty());
        assert!(site.gateway.rows("SELECT id FROM messages_messages").await.is_empty());
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_not_found() {
    for site in sites(vec![registered_by(7, Wallet::new(2).address(), "seven", "")]).await {
        for to in [json!(8), json!("8"), json!(9_007_199_254_740_991_i64)] {
            let refusal = refused(&site, json!({ "to": to, "body": "b" })).await;
            assert_eq!(refusal, (404, "not_found".to_owned()), "{to}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_signature_must_be_right_and_counts_once() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let payload = json!({ "to": bob.address(), "body": "b" });
        let mut body = alice.signed_body("message.send", site.gateway.now_s(), &payload);
        body["body"] = json!("changed");
        let changed = site.gateway.send("POST", MESSAGES, &[], body.to_string()).await;
        assert_eq!((changed.status, changed.code().as_str()), (401, "sig_mismatch"));
        let other = alice.signed_body("thread.create", site.gateway.now_s(), &payload).to_string();
        assert_eq!(site.gateway.send("POST", MESSAGES, &[], other).await.status, 401);
        let old = alice.signed_body("message.send", site.gateway.now_s() - 301, &payload).to_string();
        assert_eq!(site.gateway.send("POST", MESSAGES, &[], old).await.code(), "stale_ts");

        let good = alice.signed_body("message.send", site.gateway.now_s(), &payload).to_string();
        assert_eq!(site.gateway.send("POST", MESSAGES, &[], good.clone()).await.status, 201);
        site.wait(2).await;
        assert_eq!(site.gateway.send("POST", MESSAGES, &[], good).await.code(), "replay");
        site.close().await;
    }
}

#[tokio::test]
async fn the_same_write_fifty_times_at_once_is_one_message() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let body =
            alice.signed_body("message.send", site.gateway.now_s(), &json!({ "to": bob.address(), "body": "b" }));
        let writes = (0..50).map(|_| site.gateway.send("POST", MESSAGES, &[], body.to_string()));
        let responses: Vec<TestResponse> = futures_util::future::join_all(writes).await;
        let count = |status: u16| responses.iter().filter(|response| response.status == status).count();
        // A write that is less than a second late is refused by the interval; a replayed signature is a 409, now or then.
        assert_eq!(count(201), 1);
        assert_eq!(count(409) + count(429), 49);
        site.gateway.clock().advance(Duration::from_secs(2)).await;
        assert_eq!(site.gateway.send("POST", MESSAGES, &[], body.to_string()).await.status, 409);
        assert_eq!(site.inbox(&bob, "").await["items"].as_array().unwrap().len(), 1);
        site.close().await;
    }
}

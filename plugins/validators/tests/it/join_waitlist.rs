//! `POST /api/validators/waitlist`

use super::{
    WAITLIST, challenge, count, fields, finish, houses, houses_with, join, limited_houses, post, signed, with,
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

#[tokio::test]
async fn an_address_joins_once() {
    for house in houses().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let receipt = |status: &str, total: u64| json!({ "ok": true, "status": status, "total": total });
        assert_eq!(join(&house, &alice, fields(&alice)).await, (201, receipt("added", 1)));
        assert_eq!(join(&house, &bob, fields(&bob)).await, (201, receipt("added", 2)));
        let again = with(fields(&alice), json!({ "seats": 9, "address": alice.address().to_lowercase() }));
        assert_eq!(join(&house, &alice, again).await, (200, receipt("already", 2)));
        assert_eq!(count(&house).await["seats"], 4, "the first word counts");
        let house = house.restart().await;
        assert_eq!(join(&house, &alice, fields(&alice)).await, (200, receipt("already", 2)));
        finish(house).await;
    }
}

async fn refused(house: &TestGateway, payload: &Value) -> (u16, String) {
    let answer = post(house, payload).await;
    assert!(!answer.json()["hint"].as_str().unwrap_or_default().is_empty(), "{}", answer.text());
    (answer.status, answer.code())
}

#[tokio::test]
async fn what_is_not_as_it_was_signed_is_refused() {
    for house in houses().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let good = signed(&house, &alice, fields(&alice)).await;
        let now = house.now_s();
        let high = format!("0x{}1b", "ff".repeat(64));
        for (members, status, code) in [
            (json!({ "sig": null }), 401, "signature_required"),
            (json!({ "sig": "" }), 401, "signature_required"),
            (json!({ "sig": "0x12" }), 400, "bad_sig"),
            (json!({ "sig": high }), 401, "bad_sig"),
            (json!({ "nonce": "12" }), 400, "bad_nonce"),
            (json!({ "nonce": null }), 400, "bad_nonce"),
            (json!({ "expires": "soon" }), 400, "bad_expires"),
            (json!({ "expires": now }), 401, "sig_expired"),
            (json!({ "expires": now + 661 }), 401, "bad_expires"),
            (json!({ "expires": now + 599 }), 401, "sig_mismatch"),
            (json!({ "seats": 3 }), 401, "sig_mismatch"),
            (json!({ "platform": "both" }), 401, "sig_mismatch"),
            (json!({ "consent": true }), 401, "sig_mismatch"),
            (json!({ "contact": "ann@a.example", "consent": true }), 401, "sig_mismatch"),
            (json!({ "address": bob.address() }), 401, "sig_mismatch"),
            (json!({ "nonce": "00112233445566778899aabbccddeeff" }), 401, "sig_mismatch"),
            (json!({ "seats": 0 }), 400, "bad_seats"),
            (json!({ "address": 5 }), 400, "bad_address"),
        ] {
            assert_eq!(
                refused(&house, &with(good.clone(), members.clone())).await,
                (status, code.to_owned()),
                "{members}"
            );
        }
        for body in ["", "[]", "{", "1"] {
            let answer = house.send("POST", super::WAITLIST, &[], body).await;
            assert_eq!(answer.status, 400, "{body}");
        }
        assert_eq!(count(&house).await["total"], 0);
        assert_eq!(post(&house, &good).await.status, 201);
        finish(house).await;
    }
}

#[tokio::test]
async fn a_challenge_holds_ten_minutes() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let payload = signed(&house, &alice, fields(&alice)).await;
        house.clock().advance(Duration::from_secs(600)).await;
        assert_eq!(refused(&house, &payload).await, (401, "sig_expired".to_owned()));
        finish(house).await;
    }
}

#[tokio::test]
async fn a_signature_works_once_even_when_its_entry_is_gone() {
    for house in houses_with(json!({ "signups_per_hour": 1000, "signatures_required": false })).await {
        let alice = Wallet::new(1);
        // Unsigned, then signed: the signed one takes its place.
        let answer = post(&house, &fields(&alice)).await;
        assert_eq!((answer.status, &answer.json()["status"]), (201, &json!("added")));
        assert_eq!(count(&house).await["verified"], 0);
        let payload = signed(&house, &alice, with(fields(&alice), json!({ "seats": 5 }))).await;
        let answer = post(&house, &payload).await;
        assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("verified")), "{}", answer.text());
        let counted = count(&house).await;
        assert_eq!((&counted["verified"], &counted["seats"]), (&json!(1), &json!(5)));
        let answer = post(&house, &fields(&alice)).await;
        assert_eq!(answer.json()["status"], "already");
        assert_eq!(count(&house).await["seats"], 5);
        house.execute("DELETE FROM validators_entries").await;
        assert_eq!(refused(&house, &payload).await, (409, "replay".to_owned()));
        assert!(house.rows("SELECT id FROM validators_entries").await.is_empty());
        finish(house).await;
    }
}

#[tokio::test]
async fn of_the_same_sign_up_many_times_at_once_one_is_added() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let payload = signed(&house, &alice, fields(&alice)).await;
        let answers = futures_util::future::join_all((0..50).map(|_| post(&house, &payload))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!((&statuses[..49], statuses[49]), ([200; 49].as_slice(), 201));
        assert_eq!(count(&house).await["total"], 1);
        finish(house).await;
    }
}

#[tokio::test]
async fn one_client_adds_five_entries_an_hour() {
    for house in houses_with(json!({})).await {
        for number in 1..=5 {
            let wallet = Wallet::new(number);
            assert_eq!(join(&house, &wallet, fields(&wallet)).await.0, 201);
        }
        let late = Wallet::new(6);
        let answer = post(&house, &signed(&house, &late, fields(&late)).await).await;
        assert_eq!((answer.status, answer.code()), (429, "ip_rate_limited".to_owned()), "{}", answer.text());
        assert_eq!(answer.header("retry-after"), "3600");
        // Who is there already hears so.
        let first = Wallet::new(1);
        assert_eq!(join(&house, &first, fields(&first)).await.0, 200);
        house.clock().advance(Duration::from_secs(3600)).await;
        assert_eq!(join(&house, &late, fields(&late)).await.0, 201);
        finish(house).await;
    }
}

#[tokio::test]
async fn a_full_list_takes_nobody() {
    for house in houses_with(json!({ "entries_max": 1, "signups_per_hour": 2 })).await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        assert_eq!(join(&house, &alice, fields(&alice)).await.0, 201);
        let payload = signed(&house, &bob, fields(&bob)).await;
        for _ in 0..3 {
            assert_eq!(refused(&house, &payload).await, (507, "waitlist_full".to_owned()));
        }
        assert_eq!(join(&house, &alice, fields(&alice)).await.0, 200);
        assert_eq!(count(&house).await["total"], 1);
        assert_eq!(challenge(&house, &fields(&bob)).await.status, 200);
        finish(house).await;
    }
}

/// Whatever they carry: the list itself takes five new entries of a client in an hour.
#[tokio::test]
async fn one_client_posts_thirty_times_an_hour() {
    for house in limited_houses().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        assert_eq!(join(&house, &alice, fields(&alice)).await.0, 201);
        let payload = signed(&house, &bob, fields(&bob)).await;
        let (taken, answer) = house.until_limited("POST", WAITLIST).await;
        assert!((29..60).contains(&taken), "{taken}");
        assert_eq!((answer.status, answer.code()), (429, "ip_rate_limited".to_owned()), "{}", answer.text());
        assert!(answer.header("retry-after").parse::<u32>().is_ok_and(|wait_s| wait_s > 60), "{:?}", answer.headers);
        assert_eq!(refused(&house, &payload).await, (429, "ip_rate_limited".to_owned()));
        assert_eq!(count(&house).await["total"], 1);
        finish(house).await;
    }
}

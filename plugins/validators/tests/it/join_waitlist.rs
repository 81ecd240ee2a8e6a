//! `POST /api/validators/waitlist`

use super::{
    WAITLIST, challenge, count, fields, finish, gateways, gateways_with, join, limited_gateways, post, signed, with,
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

#[tokio::test]
async fn an_address_joins_once() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let receipt = |status: &str, total: u64| json!({ "ok": true, "status": status, "total": total });
        assert_eq!(join(&gateway, &alice, fields(&alice)).await, (201, receipt("added", 1)));
        assert_eq!(join(&gateway, &bob, fields(&bob)).await, (201, receipt("added", 2)));
        let again = with(fields(&alice), json!({ "seats": 9, "address": alice.address().to_lowercase() }));
        assert_eq!(join(&gateway, &alice, again).await, (200, receipt("already", 2)));
        assert_eq!(count(&gateway).await["seats"], 4, "the first word counts");
        let gateway = gateway.restart().await;
        assert_eq!(join(&gateway, &alice, fields(&alice)).await, (200, receipt("already", 2)));
        finish(gateway).await;
    }
}

async fn refused(gateway: &TestGateway, payload: &Value) -> (u16, String) {
    let response = post(gateway, payload).await;
    assert!(!response.json()["hint"].as_str().unwrap_or_default().is_empty(), "{}", response.text());
    (response.status, response.code())
}

#[tokio::test]
async fn a_body_that_differs_from_the_signed_text_is_refused() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let good = signed(&gateway, &alice, fields(&alice)).await;
        let now = gateway.now_s();
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
                refused(&gateway, &with(good.clone(), members.clone())).await,
                (status, code.to_owned()),
                "{members}"
            );
        }
        for body in ["", "[]", "{", "1"] {
            let response = gateway.send("POST", super::WAITLIST, &[], body).await;
            assert_eq!(response.status, 400, "{body}");
        }
        assert_eq!(count(&gateway).await["total"], 0);
        assert_eq!(post(&gateway, &good).await.status, 201);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_challenge_holds_ten_minutes() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let payload = signed(&gateway, &alice, fields(&alice)).await;
        gateway.clock().advance(Duration::from_secs(600)).await;
        assert_eq!(refused(&gateway, &payload).await, (401, "sig_expired".to_owned()));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_signature_works_once_even_when_its_entry_is_gone() {
    for gateway in gateways_with(json!({ "signups_per_hour": 1000, "signatures_required": false })).await {
        let alice = Wallet::new(1);
        // Unsigned, then signed: the signed entry replaces it.
        let response = post(&gateway, &fields(&alice)).await;
        assert_eq!((response.status, &response.json()["status"]), (201, &json!("added")));
        assert_eq!(count(&gateway).await["verified"], 0);
        let payload = signed(&gateway, &alice, with(fields(&alice), json!({ "seats": 5 }))).await;
        assert_eq!(refused(&gateway, &payload).await, (429, "rate_limited".to_owned()), "one write per second");
        gateway.clock().advance(Duration::from_secs(1)).await;
        let response = post(&gateway, &payload).await;
        assert_eq!((response.status, &response.json()["status"]), (200, &json!("verified")), "{}", response.text());
        let counted = count(&gateway).await;
        assert_eq!((&counted["verified"], &counted["seats"]), (&json!(1), &json!(5)));
        let response = post(&gateway, &fields(&alice)).await;
        assert_eq!(response.json()["status"], "already");
        assert_eq!(count(&gateway).await["seats"], 5);
        gateway.execute("DELETE FROM validators_entries").await;
        assert_eq!(refused(&gateway, &payload).await, (409, "replay".to_owned()));
        assert!(gateway.rows("SELECT id FROM validators_entries").await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_sign_up_many_times_at_once_one_is_added() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let payload = signed(&gateway, &alice, fields(&alice)).await;
        let responses = futures_util::future::join_all((0..50).map(|_| post(&gateway, &payload))).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((&statuses[..49], statuses[49]), ([200; 49].as_slice(), 201));
        assert_eq!(count(&gateway).await["total"], 1);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_client_adds_five_entries_an_hour() {
    for gateway in gateways_with(json!({})).await {
        for number in 1..=5 {
            let wallet = Wallet::new(number);
            assert_eq!(join(&gateway, &wallet, fields(&wallet)).await.0, 201);
        }
        let late = Wallet::new(6);
        let response = post(&gateway, &signed(&gateway, &late, fields(&late)).await).await;
        assert_eq!((response.status, response.code()), (429, "ip_rate_limited".to_owned()), "{}", response.text());
        assert_eq!(response.header("retry-after"), "3600");
        // Nor after a restart, or at another gateway.
        let gateway = gateway.restart().await;
        let response = post(&gateway, &signed(&gateway, &late, fields(&late)).await).await;
        assert_eq!((response.status, response.header("retry-after")), (429, "3600"));
        // An address that has an entry already is told so.
        let first = Wallet::new(1);
        assert_eq!(join(&gateway, &first, fields(&first)).await.0, 200);
        gateway.clock().advance(Duration::from_secs(3600)).await;
        assert_eq!(join(&gateway, &late, fields(&late)).await.0, 201);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_sign_up_that_adds_nothing_does_not_count_for_its_client() {
    for gateway in gateways_with(json!({ "signups_per_hour": 5 })).await {
        let alice = Wallet::new(1);
        let payload = signed(&gateway, &alice, fields(&alice)).await;
        let responses = futures_util::future::join_all((0..20).map(|_| post(&gateway, &payload))).await;
        assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
        for number in 2..=5 {
            let wallet = Wallet::new(number);
            assert_eq!(join(&gateway, &wallet, fields(&wallet)).await.0, 201, "{number}");
        }
        let late = Wallet::new(6);
        assert_eq!(join(&gateway, &late, fields(&late)).await.0, 429);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_full_list_refuses_entries() {
    for gateway in gateways_with(json!({ "entries_max": 1, "signups_per_hour": 2 })).await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        assert_eq!(join(&gateway, &alice, fields(&alice)).await.0, 201);
        let payload = signed(&gateway, &bob, fields(&bob)).await;
        for _ in 0..3 {
            assert_eq!(refused(&gateway, &payload).await, (507, "waitlist_full".to_owned()));
        }
        assert_eq!(join(&gateway, &alice, fields(&alice)).await.0, 200);
        assert_eq!(count(&gateway).await["total"], 1);
        assert_eq!(challenge(&gateway, &fields(&bob)).await.status, 200);
        finish(gateway).await;
    }
}

/// The limit counts every call; the list itself accepts five new entries per client and hour.
#[tokio::test]
async fn one_client_posts_thirty_times_an_hour() {
    for gateway in limited_gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        assert_eq!(join(&gateway, &alice, fields(&alice)).await.0, 201);
        let payload = signed(&gateway, &bob, fields(&bob)).await;
        let (taken, response) = gateway.until_limited("POST", WAITLIST).await;
        assert_eq!(taken, 29);
        assert_eq!((response.status, response.code()), (429, "ip_rate_limited".to_owned()), "{}", response.text());
        assert!(
            response.header("retry-after").parse::<u32>().is_ok_and(|wait_s| wait_s > 60),
            "{:?}",
            response.headers
        );
        assert_eq!(refused(&gateway, &payload).await, (429, "ip_rate_limited".to_owned()));
        assert_eq!(count(&gateway).await["total"], 1);
        finish(gateway).await;
    }
}

/// A host with IPv6 has 2^64 addresses of its own.
#[tokio::test]
async fn all_addresses_of_an_ipv6_network_are_one_client() {
    for gateway in gateways_with(json!({ "signups_per_hour": 2, "signatures_required": false })).await {
        let mut statuses = Vec::new();
        for (number, ip) in (1..).zip(["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"]) {
            gateway.set_client_ip(ip.parse().unwrap());
            let wallet = Wallet::new(number);
            statuses.push(post(&gateway, &fields(&wallet)).await.status);
        }
        assert_eq!(statuses, [201, 201, 429, 201]);
        finish(gateway).await;
    }
}

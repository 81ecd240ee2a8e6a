//! `POST /api/bounties/{id}/claims`

use super::{BOUNTIES, is, owner, poster, refusal, script::registered_by, sites};
use plugin_testing::{TestResponse, Wallet, json};

#[tokio::test]
async fn a_claim_is_answered_and_claiming_again_changes_the_pitch() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let now = site.gateway.now_s();
        let first = site.claim(bounty, &owner(2), json!({ "agentId": "2", "pitch": " Ich 👋 " })).await;
        assert_eq!(first.status, 201);
        let first = first.json();
        let claimer = json!({ "address": owner(2).address(), "name": "agent 2", "agentId": 2 });
        assert_eq!(
            first,
            json!({
                "id": first["id"], "bountyId": bounty, "agentId": 2, "agentName": "agent 2",
                "agent": { "agentId": 2, "name": "agent 2" }, "claimer": claimer, "pitch": " Ich 👋 ", "house": false,
                "createdAt": now, "updatedAt": now
            })
        );
        let second = site.claim(bounty, &owner(2), json!({ "agentId": 2, "pitch": "better" })).await;
        assert_eq!(second.status, 200);
        let mut expected = first;
        expected["pitch"] = json!("better");
        expected["updatedAt"] = json!(now + 2);
        assert_eq!(second.json(), expected);
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        assert_eq!((&read["claims"], &read["claimCount"]), (&json!([expected]), &json!(1)));
        assert_eq!(read["updatedAt"], now + 2);

        let published: Vec<_> = site.published().await.into_iter().filter(|(kind, _)| kind == "bounty.claim").collect();
        for (event, updated) in published.iter().zip([false, true]) {
            let data = json!({
                "bountyId": bounty, "title": "T", "claimId": expected["id"], "agentId": 2, "agentName": "agent 2",
                "updated": updated
            });
            assert_eq!(event.1, data);
        }
        assert_eq!(published.len(), 2);
        site.close().await;
    }
}

#[tokio::test]
async fn the_current_owner_claims_for_the_agent() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let heir = Wallet::new(33);
        assert_eq!(site.claim(bounty, &owner(1), json!({ "agentId": 1, "pitch": "p" })).await.status, 201);
        site.mine(vec![super::script::transferred_by(1, owner(1).address(), heir.address())]).await;
        let refused = site.claim(bounty, &owner(1), json!({ "agentId": 1, "pitch": "p" })).await;
        assert_eq!(refusal(&refused), is(403, "not_owner"));
        let taken_over = site.claim(bounty, &heir, json!({ "agentId": 1, "pitch": "q" })).await;
        assert_eq!((taken_over.status, &taken_over.json()["claimer"]["address"]), (200, &json!(heir.address())));
        site.close().await;
    }
}

#[tokio::test]
async fn refusals_come_in_their_order() {
    for site in sites().await {
        let deadline = site.gateway.now_s() + 100;
        let bounty = site.post("T", json!({ "deadline": deadline })).await;
        site.mine(registered_by(9, poster().address(), "the poster's", "")).await;
        let long = "é".repeat(2_048) + "a";
        for (signer, payload, expected) in [
            (owner(1), json!({ "agentId": 8, "pitch": " " }), is(404, "not_found")),
            (owner(1), json!({ "agentId": 2, "pitch": " " }), is(403, "not_owner")),
            (owner(1), json!({ "agentId": 1, "pitch": " " }), is(400, "bad_request")),
            (owner(1), json!({ "agentId": 1, "pitch": long }), is(413, "too_large")),
            (poster(), json!({ "agentId": 9, "pitch": " " }), is(400, "bad_request")),
            (poster(), json!({ "agentId": 9, "pitch": "p" }), is(400, "self_claim")),
            (owner(1), json!({ "agentId": 0, "pitch": "p" }), is(400, "bad_request")),
            (owner(1), json!({ "pitch": "p" }), is(400, "bad_request")),
            (owner(1), json!({ "agentId": 1 }), is(400, "bad_request")),
            (owner(1), json!({ "agentId": 1, "pitch": "a\u{0}" }), is(400, "bad_request")),
        ] {
            assert_eq!(refusal(&site.claim(bounty, &signer, payload.clone()).await), expected, "{payload}");
        }
        let unsigned = site.gateway.send("POST", &format!("{BOUNTIES}/{bounty}/claims"), &[], "{}").await;
        assert_eq!(unsigned.status, 401);
        let unknown = site.claim(bounty + 1, &owner(1), json!({ "agentId": 1, "pitch": "p" })).await;
        assert_eq!((unknown.status, unknown.code().as_str()), (404, "not_found"));

        site.wait(100).await;
        let late = site.claim(bounty, &owner(1), json!({ "agentId": 8, "pitch": " " })).await;
        assert_eq!(refusal(&late), is(409, "expired"));
        assert_eq!(
            site.award(bounty, &poster(), json!({ "agentId": 2 })).await.status,
            200,
            "awarding has no deadline"
        );
        let closed = site.claim(bounty, &owner(1), json!({ "agentId": 8, "pitch": " " })).await;
        assert_eq!(refusal(&closed), is(409, "not_open"));
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        assert_eq!(read["claims"], json!([]));
        site.close().await;
    }
}

#[tokio::test]
async fn a_claim_is_good_until_the_deadline() {
    for site in sites().await {
        let deadline = site.gateway.now_s() + 10;
        let bounty = site.post("T", json!({ "deadline": deadline })).await;
        // The write took two seconds of the clock.
        site.wait(7).await;
        let longest = "é".repeat(2_048);
        assert_eq!(site.claim(bounty, &owner(1), json!({ "agentId": 1, "pitch": longest })).await.status, 201);
        assert!(site.gateway.now_s() >= deadline);
        assert_eq!(site.claim(bounty, &owner(1), json!({ "agentId": 1, "pitch": "q" })).await.code(), "expired");
        site.close().await;
    }
}

#[tokio::test]
async fn many_at_once_are_one_claim_per_agent() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let path = format!("{BOUNTIES}/{bounty}/claims");
        let sign = |wallet: &Wallet, agent: i64, number: i64| {
            wallet.signed_body(
                "bounty.claim",
                site.gateway.now_s(),
                &json!({ "agentId": agent, "pitch": number.to_string() }),
            )
        };
        // The same write 25 times, and 25 of another agent.
        let bodies =
            (0..50).map(|number| sign(&owner(1 + number % 2), if number % 2 == 0 { 1 } else { 2 }, 0).to_string());
        let writes = bodies.map(|body| site.gateway.send("POST", &path, &[], body));
        let responses: Vec<TestResponse> = futures_util::future::join_all(writes).await;
        let count = |status: u16| responses.iter().filter(|response| response.status == status).count();
        assert_eq!((count(201), count(200), count(409) + count(429)), (2, 0, 48));
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        assert_eq!(read["claims"].as_array().unwrap().len(), 2);
        site.close().await;
    }
}

//! `POST /api/bounties`

use super::{BOUNTIES, Site, id, is, poster, refusal, sites};
use plugin_testing::{TestResponse, Value, Wallet, json};

async fn refused(site: &Site, payload: Value) -> (u16, String) {
    refusal(&site.gateway.post_signed(BOUNTIES, &poster(), "bounty.create", payload).await)
}

#[tokio::test]
async fn a_bounty_is_answered_as_it_is_read() {
    for site in sites().await {
        let (now, deadline) = (site.gateway.now_s(), site.gateway.now_s() + 60);
        let more =
            json!({ "brief": " Grüße 👋\n", "tags": ["B", "a ", "b"], "deadline": deadline, "rewardWei": "007" });
        let bounty = site.posted(&poster(), " T ", more).await;
        let author = json!({ "address": poster().address(), "name": null, "agentId": null });
        assert_eq!(
            bounty,
            json!({
                "id": id(&bounty), "title": "T", "brief": " Grüße 👋\n", "rewardWei": "7", "tags": ["b", "a"],
                "deadline": deadline, "createdAt": now, "status": "open", "poster": author, "author": author,
                "awardedAgentId": null, "awardedAgentName": null, "jobId": null, "jobStatus": null, "claimCount": 0,
                "houseClaimCount": 0, "updatedAt": now, "awardedAt": null, "completedAt": null, "claims": []
            })
        );
        assert_eq!(site.read(&format!("{BOUNTIES}/{}", id(&bounty))).await, bounty);
        site.close().await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public() {
    for site in sites().await {
        let bounty = site.post("T", json!({ "tags": ["x"], "deadline": null })).await;
        let events = site.gateway.events().await;
        let event = events.iter().find(|event| event.kind == "bounty.create").unwrap();
        assert_eq!(event.actor.as_deref(), Some(poster().address()));
        let subject = event.subject.as_ref().unwrap();
        assert_eq!((subject.kind.as_str(), subject.id.clone()), ("bounty", bounty.to_string()));
        assert_eq!(event.data, json!({ "bountyId": bounty, "title": "T", "rewardWei": "5", "tags": ["x"] }));
        site.close().await;
    }
}

#[tokio::test]
async fn limits_hold_at_the_edge_for_characters_of_every_length() {
    for site in sites().await {
        for (character, units) in [("a", 1), ("é", 1), ("€", 1), ("😀", 2)] {
            let title = character.repeat(200 / units);
            let fits = character.repeat(16_384 / character.len());
            let brief = format!("{fits}{}", "a".repeat(16_384 - fits.len()));
            let tag = character.repeat(32 / units);
            let deadline = site.gateway.now_s() + 1;
            let more = json!({
                "brief": brief, "tags": [tag], "rewardWei": 9_007_199_254_740_991_i64, "deadline": deadline
            });
            let bounty = site.posted(&poster(), &title, more).await;
            assert_eq!((&bounty["title"], &bounty["brief"]), (&json!(title), &json!(brief)));

            let good = json!({ "title": title, "brief": "b", "rewardWei": 1 });
            for (member, value, refusal) in [
                ("title", json!(format!("{title}a")), is(400, "bad_request")),
                ("brief", json!(format!("{brief}a")), is(413, "too_large")),
                ("tags", json!([format!("{tag}a")]), is(400, "bad_request")),
            ] {
                let mut payload = good.clone();
                payload[member] = value;
                assert_eq!(refused(&site, payload).await, refusal, "{member} of {character}");
            }
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_invalid_bounty_is_refused_and_not_stored() {
    for site in sites().await {
        let now = site.gateway.now_s();
        for wrong in [
            json!({ "title": "" }),
            json!({ "title": " \n" }),
            json!({ "title": 7 }),
            json!({ "title": null }),
            json!({ "title": "a\u{0}" }),
            json!({ "brief": " \u{3000}" }),
            json!({ "brief": null }),
            json!({ "rewardWei": null }),
            json!({ "rewardWei": "-1" }),
            json!({ "rewardWei": "1.0" }),
            json!({ "rewardWei": 1.5 }),
            json!({ "rewardWei": "0x10" }),
            json!({ "rewardWei": "" }),
            json!({ "rewardWei": -1 }),
            json!({ "rewardWei": "1e18" }),
            json!({ "rewardWei": "9".repeat(78) }),
            json!({ "rewardWei": "1".repeat(79) }),
            json!({ "tags": ["1", "2", "3", "4", "5", "6"] }),
            json!({ "tags": "x" }),
            json!({ "deadline": now }),
            json!({ "deadline": now - 1 }),
            json!({ "deadline": -5 }),
            json!({ "deadline": "tomorrow" }),
            json!({ "deadline": 1.5 }),
        ] {
            let mut payload = json!({ "title": "t", "brief": "b", "rewardWei": "1" });
            payload.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
            assert_eq!(refused(&site, payload).await, is(400, "bad_request"), "{wrong}");
        }
        assert_eq!(site.read(BOUNTIES).await, json!({ "items": [], "total": 0 }));
        assert!(site.published().await.is_empty());
        site.close().await;
    }
}

#[tokio::test]
async fn a_signature_must_be_right_and_counts_once() {
    for site in sites().await {
        let payload = json!({ "title": "t", "brief": "b", "rewardWei": "1" });
        let mut body = poster().signed_body("bounty.create", site.gateway.now_s(), &payload);
        body["rewardWei"] = json!("2");
        let changed = site.gateway.send("POST", BOUNTIES, &[], body.to_string()).await;
        assert_eq!((changed.status, changed.code().as_str()), (401, "sig_mismatch"));

        let body = poster().signed_body("bounty.create", site.gateway.now_s(), &payload).to_string();
        let writes = (0..50).map(|_| site.gateway.send("POST", BOUNTIES, &[], body.clone()));
        let responses: Vec<TestResponse> = futures_util::future::join_all(writes).await;
        let count = |status: u16| responses.iter().filter(|response| response.status == status).count();
        assert_eq!((count(201), count(409) + count(429)), (1, 49));
        site.wait(2).await;
        assert_eq!(site.gateway.send("POST", BOUNTIES, &[], body).await.code(), "replay");
        assert_eq!(site.read(BOUNTIES).await["total"], 1);
        site.close().await;
    }
}

#[tokio::test]
async fn bounties_outlive_the_gateway() {
    for site in sites().await {
        let bounty = site.posted(&Wallet::new(7), "T", json!({})).await;
        let site = site.restarted().await;
        assert_eq!(site.read(&format!("{BOUNTIES}/{}", id(&bounty))).await, bounty);
        site.close().await;
    }
}

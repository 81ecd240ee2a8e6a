//! `POST /api/arena/challenges/{id}/submissions`

use super::{CHALLENGES, HOUR, author, id, owner, refusal, refused, sites};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_submission_is_answered_as_it_is_read() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let now = site.gateway.now_s();
        let stored = site.gateway.send("POST", "/api/payloads", &[], "my answer").await.json();
        let payload = json!({
            "agentId": 1, "payloadHash": stored["hash"], "url": "https://a.example/x", "note": format!(" {} ", "wörd ".repeat(50))
        });
        let response = site.submit(challenge, &owner(1), payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        let submission = response.json();
        let author = json!({ "address": owner(1).address(), "name": "agent 1", "agentId": 1 });
        let note = "wörd ".repeat(50).trim().to_owned();
        assert_eq!(
            submission,
            json!({
                "id": id(&submission), "challengeId": challenge, "submitter": author, "author": author, "agentId": 1,
                "agentName": "agent 1", "agent": { "agentId": 1, "name": "agent 1" }, "payloadHash": stored["hash"],
                "payloadURI": stored["uri"], "url": "https://a.example/x", "note": note, "createdAt": now, "votes": 0,
                "weightSum": 0, "score": null, "points": 0, "rank": 1
            })
        );
        let detail = site.challenge(challenge).await;
        assert_eq!((&detail["submissions"], &detail["submissionCount"]), (&json!([submission]), &json!(1)));
        let published = site.published("arena.submit").await;
        let excerpt = published[0]["note"].as_str().unwrap();
        assert_eq!(excerpt.chars().count(), 160);
        let data = json!({
            "challengeId": challenge, "title": "c", "submissionId": id(&submission), "agentId": 1, "agentName": "agent 1",
            "note": excerpt
        });
        assert_eq!(published, [data]);
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_is_named_only_by_its_owner_or_not_at_all() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let with = |agent| json!({ "url": "https://a.example", "agentId": agent });
        for (agent, status, code) in [
            (json!(2), 403, "not_owner"),
            (json!(999), 404, "not_found"),
            (json!(0), 400, "bad_request"),
            (json!("x"), 400, "bad_request"),
        ] {
            let response = site.submit(challenge, &owner(1), with(agent.clone())).await;
            assert_eq!(refusal(&response), refused(status, code), "{agent}");
        }
        let response = site.submit(challenge, &owner(1), with(json!("3"))).await;
        assert_eq!((response.status, &response.json()["agentId"]), (201, &json!(3)));
        let response = site.submit(challenge, &Wallet::new(5), with(json!(null))).await;
        assert_eq!((response.status, &response.json()["agent"]), (201, &json!(null)));
        assert_eq!(response.json()["author"], author(&Wallet::new(5)));
        site.close().await;
    }
}

#[tokio::test]
async fn content_that_is_missing_unknown_or_out_of_reach_is_refused() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let unknown = format!("0x{}", "ab".repeat(32));
        for (payload, status, code) in [
            (json!({}), 400, "bad_request"),
            (json!({ "url": "http://a.example" }), 400, "bad_request"),
            (json!({ "url": "https://localhost" }), 400, "private_url"),
            (json!({ "payloadHash": unknown }), 400, "unknown_payload"),
            (json!({ "payloadHash": "0x1" }), 400, "bad_request"),
            (json!({ "url": "https://a.example", "note": "é".repeat(2049) }), 413, "too_large"),
        ] {
            let response = site.submit(challenge, &Wallet::new(5), payload.clone()).await;
            assert_eq!(refusal(&response), refused(status, code), "{payload}");
        }
        assert_eq!(site.challenge(challenge).await["submissionCount"], 0);
        let longest = json!({ "url": "https://a.example", "note": "é".repeat(2048) });
        assert_eq!(site.submit(challenge, &Wallet::new(5), longest).await.status, 201);
        site.close().await;
    }
}

#[tokio::test]
async fn an_address_submits_once_and_not_after_the_end() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let carol = Wallet::new(5);
        site.submitted(challenge, &carol).await;
        site.wait(2).await;
        let again = site.submit(challenge, &carol, json!({ "url": "https://b.example" })).await;
        assert_eq!(refusal(&again), refused(409, "already_submitted"));
        let ends_at = site.challenge(challenge).await["endsAt"].as_i64().unwrap();
        site.wait(ends_at - site.gateway.now_s() - 1).await;
        site.submitted(challenge, &Wallet::new(6)).await;
        site.wait(1).await;
        // Exactly at the end, without a read since.
        let late = site.submit(challenge, &Wallet::new(7), json!({ "url": "https://b.example" })).await;
        assert_eq!(refusal(&late), refused(409, "closed"));
        assert_eq!(site.published("arena.close").await.len(), 1);
        site.wait(HOUR).await;
        let late = site.submit(challenge, &Wallet::new(7), json!({})).await;
        assert_eq!(refusal(&late), refused(409, "closed"), "before the payload is looked at");
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_challenge_is_answered_before_body_and_signature() {
    for site in sites().await {
        let challenge = site.open("c").await;
        for unknown in ["999999", "0", "-1", "abc", "1.5"] {
            let response =
                site.gateway.send("POST", &format!("{CHALLENGES}/{unknown}/submissions"), &[], "no json").await;
            assert_eq!(refusal(&response), refused(404, "not_found"), "{unknown}");
        }
        let response = site.gateway.send("POST", &format!("{CHALLENGES}/{challenge}/submissions"), &[], "{}").await;
        assert_eq!(response.status, 401, "{}", response.text());
        site.close().await;
    }
}

#[tokio::test]
async fn of_the_same_submission_many_times_at_once_one_is_done() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let carol = Wallet::new(5);
        let writes = (0..50).map(|_| site.submit(challenge, &carol, json!({ "url": "https://a.example" })));
        let responses = futures_util::future::join_all(writes).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, [409; 49].as_slice()));
        let site = site.restarted().await;
        let detail = site.challenge(challenge).await;
        assert_eq!((&detail["submissionCount"], detail["submissions"].as_array().unwrap().len()), (&json!(1), 1));
        assert_eq!(site.published("arena.submit").await.len(), 1);
        site.close().await;
    }
}

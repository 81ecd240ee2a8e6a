//! `POST /api/arena/challenges`

use super::{CHALLENGES, author, creator, id, refusal, refused, sites};
use plugin_testing::json;

#[tokio::test]
async fn a_challenge_is_answered_as_it_is_read() {
    for site in sites().await {
        let now = site.gateway.now_s();
        let prize = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let more =
            json!({ "title": " Rätsel ✓ ", "brief": " b\n", "rules": " r ", "prizeWei": prize, "tags": ["A", "a "] });
        let challenge = site.opened("", more).await;
        let author = author(&creator());
        assert_eq!(
            challenge,
            json!({
                "id": id(&challenge), "title": "Rätsel ✓", "brief": " b\n", "rules": "r", "prizeWei": prize, "tags": ["a"],
                "endsAt": now + 3600, "status": "open", "creator": author, "author": author, "submissionCount": 0,
                "voteCount": 0, "winnerSubmissionId": null, "winner": null, "closedAt": null, "awardedAgentId": null,
                "awardedAgentName": null, "jobId": null, "jobStatus": null, "awardedAt": null, "createdAt": now,
                "submissions": []
            })
        );
        assert_eq!(site.challenge(id(&challenge)).await, challenge);
        let data = json!({
            "challengeId": id(&challenge), "title": "Rätsel ✓", "prizeWei": prize, "endsAt": now + 3600, "tags": ["a"]
        });
        assert_eq!(site.published("arena.create").await, [data]);
        site.close().await;
    }
}

#[tokio::test]
async fn limits_hold_and_a_refusal_leaves_nothing() {
    for site in sites().await {
        let ends_at = site.gateway.now_s() + 3600;
        for (payload, status, code) in [
            (json!({}), 400, "bad_request"),
            (json!({ "title": "t", "brief": "b" }), 400, "bad_request"),
            (json!({ "title": " ", "brief": "b", "endsAt": ends_at }), 400, "bad_request"),
            (json!({ "title": "x".repeat(201), "brief": "b", "endsAt": ends_at }), 400, "bad_request"),
            (json!({ "title": "t", "brief": " ", "endsAt": ends_at }), 400, "bad_request"),
            (json!({ "title": "t", "brief": "é".repeat(8193), "endsAt": ends_at }), 413, "too_large"),
            (json!({ "title": "t", "brief": "b", "rules": "r".repeat(8193), "endsAt": ends_at }), 413, "too_large"),
            (json!({ "title": "t", "brief": "b", "endsAt": ends_at - 3001 }), 400, "bad_request"),
            (json!({ "title": "t", "brief": "b", "endsAt": ends_at + 7_776_000 }), 400, "bad_request"),
            (json!({ "title": "t", "brief": "b", "endsAt": "soon" }), 400, "bad_request"),
            (json!({ "title": "t", "brief": "b", "endsAt": ends_at, "prizeWei": "1.5" }), 400, "bad_request"),
            (json!({ "title": "t", "brief": "b", "endsAt": ends_at, "prizeWei": "-1" }), 400, "bad_request"),
            (
                json!({ "title": "t", "brief": "b", "endsAt": ends_at, "tags": ["1", "2", "3", "4", "5", "6"] }),
                400,
                "bad_request",
            ),
        ] {
            let response = site.gateway.post_signed(CHALLENGES, &creator(), "arena.create", payload.clone()).await;
            assert_eq!(refusal(&response), refused(status, code), "{payload}");
        }
        for (member, value, error) in [
            ("title", json!(" "), "title: 1 to 200 characters are needed"),
            ("title", json!(format!("{}a", "😀".repeat(100))), "title: 1 to 200 characters are needed"),
            ("brief", json!(" \n"), "brief: there is nothing in it"),
            ("brief", json!(format!("{}a", "é".repeat(8192))), "brief: 16385 bytes are more than 16384"),
            ("rules", json!(format!("{}a", "é".repeat(4096))), "rules: 8193 bytes are more than 8192"),
            ("tags", json!(["1", "2", "3", "4", "5", "6"]), "tags: "),
            ("endsAt", json!(ends_at - 3001), "endsAt: a unix time from "),
            ("endsAt", json!(-1), "endsAt: a unix time from "),
            ("endsAt", json!(ends_at - 3600 + 7_776_001), "endsAt: a unix time from "),
        ] {
            let mut payload = json!({ "title": "t", "brief": "b", "endsAt": ends_at });
            payload[member] = value;
            let response = site.gateway.post_signed(CHALLENGES, &creator(), "arena.create", payload).await;
            assert!(response.json()["error"].as_str().unwrap().starts_with(error), "{}", response.text());
        }
        assert_eq!(site.read(CHALLENGES).await["total"], 0);
        let unsigned = site.gateway.send("POST", CHALLENGES, &[], "{}").await;
        assert_eq!(unsigned.status, 401);
        site.opened("t", json!({ "title": "😀".repeat(100), "brief": "é".repeat(8192), "rules": "r".repeat(8192) }))
            .await;
        for seconds in [600, 7_776_000] {
            site.opened("t", json!({ "rules": "é".repeat(4096), "endsAt": site.gateway.now_s() + seconds })).await;
        }
        let least = site.opened("t", json!({ "rules": null, "prizeWei": null, "tags": null })).await;
        assert_eq!((&least["rules"], &least["prizeWei"], &least["tags"]), (&json!(""), &json!("0"), &json!([])));
        site.close().await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for site in sites().await {
        let payload = json!({ "title": "t", "brief": "b", "endsAt": site.gateway.now_s() + 3600, "tags": ["x"] });
        let creator = creator();
        let writes = (0..50).map(|_| site.gateway.post_signed(CHALLENGES, &creator, "arena.create", payload.clone()));
        let responses = futures_util::future::join_all(writes).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, [409; 49].as_slice()));
        let site = site.restarted().await;
        assert_eq!(site.read(CHALLENGES).await["total"], 1);
        site.close().await;
    }
}

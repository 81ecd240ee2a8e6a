//! Contributions of the arena.

use super::{HOUR, creator, sites, sites_with};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_manifest_counts_open_challenges() {
    for site in sites().await {
        site.open("one").await;
        site.opened("two", json!({ "endsAt": site.gateway.now_s() + 5 * HOUR })).await;
        site.wait(600).await;
        let manifest = site.read(MANIFEST).await;
        assert_eq!(manifest["live"]["stats"]["openChallenges"], 2);
        assert!(manifest["endpoints"]["arena"].as_str().unwrap_or_default().ends_with("/api/arena/challenges"));
        // No request has read the challenge since its end.
        site.wait(2 * HOUR).await;
        assert_eq!(site.read(MANIFEST).await["live"]["stats"]["openChallenges"], 1);
        site.close().await;
    }
}

#[tokio::test]
async fn the_leaderboard_counts_wins_by_the_time_of_the_end() {
    for site in sites_with(|builder| builder.plugin(activity::plugin_module())).await {
        let winner = Wallet::new(5);
        for days in [40, 1] {
            let challenge = site.open("c").await;
            let submission = site.submitted(challenge, &winner).await;
            site.voted(submission, &Wallet::new(6), 9).await;
            site.wait(2 * HOUR).await;
            site.challenge(challenge).await;
            site.gateway.clock().advance(DAY * days).await;
        }
        let board = site.read("/api/leaderboard").await;
        let wins = |period: &str| {
            let entries = board["periods"][period].as_array().unwrap();
            entries.iter().find(|entry| entry["address"] == winner.address()).map(|entry| entry["arenaWins"].clone())
        };
        assert_eq!((wins("all"), wins("30d")), (Some(json!(2)), Some(json!(1))));
        site.close().await;
    }
}

#[tokio::test]
async fn payloads_of_submissions_and_in_texts_stay() {
    for site in sites().await {
        let mut hashes = Vec::new();
        for bytes in ["content", "note", "brief", "nowhere"] {
            let response = site.gateway.send("POST", "/api/payloads", &[], bytes).await;
            hashes.push(response.json()["hash"].as_str().unwrap().to_owned());
        }
        let [content, note, brief, nowhere] = &hashes[..] else { panic!("four") };
        let challenge = super::id(&site.opened("c", json!({ "brief": format!("see {brief}") })).await);
        let response = site.submit(challenge, &Wallet::new(5), json!({ "payloadHash": content, "note": note })).await;
        assert_eq!(response.status, 201, "{}", response.text());
        site.gateway.clock().advance(DAY * 31).await;
        let there = async |hash: &str| site.gateway.get(&format!("/api/payloads/{hash}")).await.status == 200;
        TestGateway::eventually(LIMIT, "what nothing mentions is deleted", || async {
            site.wait(600).await;
            !there(nowhere).await
        })
        .await;
        assert!(there(content).await && there(note).await && there(brief).await);
        site.close().await;
    }
}

#[tokio::test]
async fn open_challenges_are_work_whose_action_is_a_call_that_works() {
    for site in sites_with(|builder| builder.plugin(super::fixture::worker())).await {
        let opened = site.opened("c", json!({ "prizeWei": "7", "tags": ["x"] })).await;
        let id = super::id(&opened);
        let over = site.opened("over", json!({ "endsAt": site.gateway.now_s() + 600 })).await;
        site.wait(900).await;
        let work = async |made_by: plugin_testing::Value| {
            let response =
                site.gateway.send("POST", "/api/worker", &[], json!({ "made_by": made_by }).to_string()).await;
            assert_eq!(response.status, 200, "{}", response.text());
            response.json()
        };
        let expected = json!([{
            "kind": "arena", "refId": id, "title": "c", "summary": "what to do", "tags": ["x"], "reward": "7",
            "postedAt": opened["createdAt"], "deadline": opened["endsAt"], "agentId": null, "claims": 0,
            "requester": creator().address(), "page": format!("/arena/{id}"), "api": format!("/api/arena/challenges/{id}"),
            "action": format!("POST /api/arena/challenges/{id}/submissions {{url, note}} signed as arena.submit")
        }]);
        assert_eq!(work(json!(null)).await, expected);
        let event = |kind: &str, id: i64| json!({ "type": kind, "data": { "challengeId": id } });
        assert_eq!(work(event("arena.create", id)).await, expected);
        for other in [event("arena.create", super::id(&over)), event("arena.vote", id), event("bounty.create", id)] {
            assert_eq!(work(other).await, json!([]));
        }
        let response = site.submit(id, &Wallet::new(5), json!({ "url": "https://a.example", "note": "n" })).await;
        assert_eq!(response.status, 201);
        assert_eq!(work(json!(null)).await[0]["claims"], 1);
        site.close().await;
    }
}

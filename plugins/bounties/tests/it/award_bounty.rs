//! `POST /api/bounties/{id}/award`

use super::{
    BOUNTIES, LIMIT, is, owner, poster, refusal,
    script::{completed, delivered, refunded, requested_by},
    sites, state,
};
use plugin_testing::{TestGateway, TestResponse, Wallet, json};

const OTHER: &str = "fmx://payload/in";

#[tokio::test]
async fn an_award_names_an_agent_and_perhaps_a_job() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let now = site.gateway.now_s();
        let response = site.award(bounty, &poster(), json!({ "agentId": 2 })).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let awarded = response.json();
        assert_eq!((&awarded["status"], &awarded["awardedAgentId"]), (&json!("awarded"), &json!(2)));
        assert_eq!((&awarded["awardedAgentName"], &awarded["jobId"]), (&json!("agent 2"), &json!(null)));
        assert_eq!((&awarded["awardedAt"], &awarded["updatedAt"]), (&json!(now), &json!(now)));
        assert_eq!(site.read(&format!("{BOUNTIES}/{bounty}")).await, awarded);

        // Awarded again with a job, and once more without.
        site.mine(vec![requested_by(7, 1, poster().address(), "5", OTHER)]).await;
        let again = site.award(bounty, &poster(), json!({ "agentId": 1, "jobId": "7" })).await.json();
        assert_eq!((&again["jobId"], &again["jobStatus"]), (&json!(7), &json!("Open")));
        assert_eq!(site.award(bounty, &poster(), json!({ "agentId": 1 })).await.json()["jobId"], json!(null));

        let published: Vec<_> = site.published().await.into_iter().filter(|(kind, _)| kind == "bounty.award").collect();
        let data = |agent: i64, job: Option<i64>| {
            json!({
                "bountyId": bounty, "title": "T", "agentId": agent, "agentName": format!("agent {agent}"), "jobId": job,
                "rewardWei": "5"
            })
        };
        let published: Vec<_> = published.into_iter().map(|(_, data)| data).collect();
        assert_eq!(published, [data(2, None), data(1, Some(7)), data(1, None)]);
        site.close().await;
    }
}

#[tokio::test]
async fn the_named_job_decides() {
    for site in sites().await {
        let client = poster();
        site.mine(vec![
            requested_by(7, 2, client.address(), "5", OTHER),
            requested_by(8, 2, client.address(), "5", OTHER),
        ])
        .await;
        let bounty = site.post("T", json!({})).await;
        site.award(bounty, &client, json!({ "agentId": 2, "jobId": 7 })).await;
        site.mine(vec![delivered(7, 7, "o")]).await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(2), Some(7)));
        site.mine(vec![refunded(7, "5", true)]).await;
        assert_eq!(site.state(bounty).await, state("open", None, None));
        assert!(site.read(&format!("{BOUNTIES}/{bounty}")).await["awardedAt"].is_null());
        let refused = site.award(bounty, &client, json!({ "agentId": 2, "jobId": 7 })).await;
        assert_eq!(refusal(&refused), is(400, "bad_request"), "a refunded job pays nothing");

        site.award(bounty, &client, json!({ "agentId": 2, "jobId": 8 })).await;
        site.mine(vec![completed(8, "4", 5)]).await;
        assert_eq!(site.state(bounty).await, state("completed", Some(2), Some(8)));
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        assert!(read["completedAt"].as_i64() >= read["awardedAt"].as_i64(), "{read}");
        let over = site.award(bounty, &client, json!({ "agentId": 2 })).await;
        assert_eq!(refusal(&over), is(409, "completed"));
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_that_is_done_completes_the_bounty_at_once() {
    for site in sites().await {
        site.chain.mine(vec![
            requested_by(7, 2, poster().address(), "5", OTHER),
            delivered(7, 7, "o"),
            completed(7, "4", 5),
        ]);
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        let bounty = site.post("T", json!({})).await;
        // The job that publishes outcomes is past the completion already.
        TestGateway::eventually(LIMIT, "outcomes are followed", || async {
            site.wait(11).await;
            site.read("/api/status").await["services"]["bountyOutcomes"]["oldestWaitingAgeS"].is_null()
        })
        .await;
        let done = site.award(bounty, &poster(), json!({ "agentId": 2, "jobId": 7 })).await.json();
        assert_eq!((&done["status"], &done["jobStatus"]), (&json!("completed"), &json!("Completed")));
        let kinds: Vec<String> = site.published().await.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["bounty.create", "bounty.award", "bounty.complete"]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_that_is_not_indexed_yet_is_believed_until_it_is() {
    for site in sites().await {
        let [mine, strange] = [site.post("a", json!({})).await, site.post("b", json!({})).await];
        site.award(mine, &poster(), json!({ "agentId": 2, "jobId": 7 })).await;
        site.award(strange, &poster(), json!({ "agentId": 2, "jobId": 8 })).await;
        assert_eq!(site.state(mine).await, state("awarded", Some(2), Some(7)));
        assert!(site.read(&format!("{BOUNTIES}/{mine}")).await["jobStatus"].is_null());
        site.mine(vec![
            requested_by(7, 2, poster().address(), "5", OTHER),
            // Somebody else's job: the link is dropped, the award remains.
            requested_by(8, 2, Wallet::new(9).address(), "5", OTHER),
        ])
        .await;
        assert_eq!(site.read(&format!("{BOUNTIES}/{mine}")).await["jobStatus"], "Open");
        assert_eq!(site.state(strange).await, state("awarded", Some(2), None));
        site.close().await;
    }
}

#[tokio::test]
async fn refusals_come_in_their_order() {
    for site in sites().await {
        let stranger = Wallet::new(9);
        site.mine(vec![
            requested_by(7, 1, poster().address(), "5", OTHER),
            requested_by(8, 2, stranger.address(), "5", OTHER),
        ])
        .await;
        let bounty = site.post("T", json!({})).await;
        for (signer, payload, expected) in [
            (stranger.clone(), json!({ "agentId": 99 }), is(403, "not_poster")),
            (owner(2), json!({ "agentId": 2 }), is(403, "not_poster")),
            (poster(), json!({ "agentId": 99, "jobId": 8 }), is(404, "not_found")),
            (poster(), json!({ "agentId": 2, "jobId": 7 }), is(400, "bad_request")),
            (poster(), json!({ "agentId": 2, "jobId": 8 }), is(403, "not_client")),
            (poster(), json!({ "agentId": 0 }), is(400, "bad_request")),
            (poster(), json!({ "jobId": 7 }), is(400, "bad_request")),
            (poster(), json!({ "agentId": 1, "jobId": -7 }), is(400, "bad_request")),
        ] {
            assert_eq!(refusal(&site.award(bounty, &signer, payload.clone()).await), expected, "{payload}");
        }
        let path = format!("{BOUNTIES}/{bounty}/award");
        assert_eq!(site.gateway.send("POST", &path, &[], "{}").await.status, 401);
        let unknown = site.award(bounty + 1, &poster(), json!({ "agentId": 1 })).await;
        assert_eq!((unknown.status, unknown.code().as_str()), (404, "not_found"));
        assert_eq!(site.state(bounty).await, state("open", None, None));
        assert_eq!(site.published().await.len(), 1, "the bounty alone");
        site.close().await;
    }
}

#[tokio::test]
async fn the_same_award_fifty_times_at_once_counts_once() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let body = poster().signed_body("bounty.award", site.gateway.now_s(), &json!({ "agentId": 2 })).to_string();
        let path = format!("{BOUNTIES}/{bounty}/award");
        let writes = (0..50).map(|_| site.gateway.send("POST", &path, &[], body.clone()));
        let responses: Vec<TestResponse> = futures_util::future::join_all(writes).await;
        let count = |status: u16| responses.iter().filter(|response| response.status == status).count();
        assert_eq!((count(200), count(409) + count(429)), (1, 49));
        assert_eq!(site.published().await.len(), 2);
        let site = site.restarted().await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(2), None));
        site.close().await;
    }
}

#[tokio::test]
async fn an_award_beside_an_open_citing_job_is_answered_and_published_alike() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        site.mine(vec![super::citing(1, 1, bounty)]).await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(1), Some(1)));
        let again = site.award(bounty, &poster(), json!({ "agentId": 2 })).await.json();
        assert_eq!((&again["awardedAgentId"], &again["jobId"]), (&json!(2), &json!(null)), "the last award counts");
        let (_, data) = site.published().await.pop().unwrap();
        assert_eq!((&data["agentId"], &data["jobId"]), (&json!(2), &json!(null)));
        // A newer job takes its place; and so does the older one, when it is completed.
        site.mine(vec![super::citing(2, 2, bounty)]).await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(2), Some(2)));
        site.mine(vec![completed(1, "4", 5)]).await;
        assert_eq!(site.state(bounty).await, state("completed", Some(1), Some(1)));
        site.close().await;
    }
}

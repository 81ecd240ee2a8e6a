//! `POST /api/arena/challenges/{id}/award`

use super::{CHALLENGES, HOUR, Site, creator, fixture::requested, owner, refusal, refused, sites};
use plugin_testing::{Value, Wallet, json};

async fn closed(site: &Site) -> i64 {
    let challenge = site.open("c").await;
    let submission = site.submitted(challenge, &owner(1)).await;
    site.voted(submission, &Wallet::new(6), 9).await;
    site.wait(2 * HOUR).await;
    challenge
}

fn awarded(detail: &Value) -> Value {
    let members = ["status", "awardedAgentId", "awardedAgentName", "jobId", "jobStatus"];
    members.map(|member| detail[member].clone()).into_iter().collect()
}

#[tokio::test]
async fn the_creator_awards_after_the_end() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let early = site.award(challenge, &creator(), json!({ "agentId": 1 })).await;
        assert_eq!(refusal(&early), refused(409, "not_closed"));
        site.wait(2 * HOUR).await;
        let other = site.award(challenge, &Wallet::new(9), json!({ "agentId": 1 })).await;
        assert_eq!(refusal(&other), refused(403, "not_creator"));
        let unknown = site.award(challenge, &creator(), json!({ "agentId": 999 })).await;
        assert_eq!(refusal(&unknown), refused(404, "not_found"));
        let wrong = site.award(challenge, &creator(), json!({})).await;
        assert_eq!(refusal(&wrong), refused(400, "bad_request"));

        let now = site.gateway.now_s();
        let first = site.award(challenge, &creator(), json!({ "agentId": 1 })).await;
        assert_eq!(first.status, 200, "{}", first.text());
        assert_eq!(awarded(&first.json()), json!(["awarded", 1, "agent 1", null, null]));
        assert_eq!((&first.json()["awardedAt"], &first.json()), (&json!(now), &site.challenge(challenge).await));
        // The last award counts; the time of the first one remains.
        let second = site.award(challenge, &creator(), json!({ "agentId": "2", "jobId": 77 })).await;
        assert_eq!(awarded(&second.json()), json!(["awarded", 2, "agent 2", 77, null]));
        assert_eq!(second.json()["awardedAt"], now);
        let published = site.published("arena.award").await;
        assert_eq!(published.len(), 2);
        let data = json!({
            "challengeId": challenge, "title": "c", "agentId": 2, "agentName": "agent 2", "jobId": 77, "prizeWei": "0",
            "winnerSubmissionId": null
        });
        assert_eq!(published[1], data);
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_that_is_indexed_must_fit() {
    for site in sites().await {
        let challenge = closed(&site).await;
        let (ours, theirs) = (creator().address().to_owned(), Wallet::new(9).address().to_owned());
        site.mine(vec![requested(1, 1, &ours, "fmx://x"), requested(2, 1, &theirs, "fmx://x")]).await;
        let other_agent = site.award(challenge, &creator(), json!({ "agentId": 2, "jobId": 1 })).await;
        assert_eq!(refusal(&other_agent), refused(400, "bad_request"));
        let other_client = site.award(challenge, &creator(), json!({ "agentId": 1, "jobId": 2 })).await;
        assert_eq!(refusal(&other_client), refused(403, "not_client"));
        let good = site.award(challenge, &creator(), json!({ "agentId": 1, "jobId": 1 })).await;
        assert_eq!(awarded(&good.json()), json!(["awarded", 1, "agent 1", 1, "Open"]));
        // A job that is requested later by somebody else is not shown; the award remains.
        let later = site.award(challenge, &creator(), json!({ "agentId": 1, "jobId": 3 })).await;
        assert_eq!(awarded(&later.json()), json!(["awarded", 1, "agent 1", 3, null]));
        site.mine(vec![requested(3, 1, &theirs, "fmx://x")]).await;
        assert_eq!(awarded(&site.challenge(challenge).await), json!(["awarded", 1, "agent 1", null, null]));
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_challenge_is_answered_before_body_and_signature() {
    for site in sites().await {
        let challenge = closed(&site).await;
        for unknown in ["999999", "0", "abc"] {
            let response = site.gateway.send("POST", &format!("{CHALLENGES}/{unknown}/award"), &[], "no json").await;
            assert_eq!(refusal(&response), refused(404, "not_found"), "{unknown}");
        }
        let response = site.gateway.send("POST", &format!("{CHALLENGES}/{challenge}/award"), &[], "{}").await;
        assert_eq!(response.status, 401, "{}", response.text());
        site.close().await;
    }
}

#[tokio::test]
async fn of_the_same_award_many_times_at_once_one_is_done() {
    for site in sites().await {
        let challenge = closed(&site).await;
        let (path, creator) = (format!("{CHALLENGES}/{challenge}/award"), creator());
        let writes = (0..50).map(|_| site.gateway.post_signed(&path, &creator, "arena.award", json!({ "agentId": 1 })));
        let responses = futures_util::future::join_all(writes).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (200, [409; 49].as_slice()));
        let site = site.restarted().await;
        assert_eq!(site.published("arena.award").await.len(), 1);
        assert_eq!(awarded(&site.challenge(challenge).await), json!(["awarded", 1, "agent 1", null, null]));
        site.close().await;
    }
}

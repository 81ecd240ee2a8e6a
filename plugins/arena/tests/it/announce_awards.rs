//! Jobs that cite a challenge award it; the job `announce_awards` publishes the award.

use super::{HOUR, Site, creator, fixture::requested, sites};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

async fn state(site: &Site, challenge: i64) -> Value {
    let detail = site.challenge(challenge).await;
    ["status", "awardedAgentId", "jobId", "jobStatus"].map(|member| detail[member].clone()).into_iter().collect()
}

#[tokio::test]
async fn a_job_of_the_creator_that_cites_the_challenge_awards_it_once_it_is_over() {
    for site in sites().await {
        let challenge = site.open("c").await;
        site.open("another").await;
        let uri = format!("FMX://arena/{challenge}/prize");
        let (ours, theirs) = (creator().address().to_owned(), Wallet::new(9).address().to_owned());
        site.mine(vec![
            requested(1, 1, &theirs, &uri),
            requested(2, 2, &ours, &format!("fmx://arena/{challenge}0")),
            requested(3, 3, &ours, &uri),
            requested(4, 1, &ours, &uri),
        ])
        .await;
        // Before the end it closes the challenge at once.
        assert_eq!(state(&site, challenge).await, json!(["awarded", 3, 3, "Open"]));
        let detail = site.challenge(challenge).await;
        assert!(detail["closedAt"].as_i64() < detail["endsAt"].as_i64(), "{detail}");
        assert_eq!(detail["closedAt"], detail["awardedAt"]);
        let late = site.submit(challenge, &Wallet::new(11), json!({ "url": "https://a.example" })).await;
        assert_eq!(super::refusal(&late), super::refused(409, "closed"));
        for page in ["", "&limit=1", "&offset=5"] {
            let total = async |status: &str| {
                site.read(&format!("/api/arena/challenges?status={status}{page}")).await["total"].clone()
            };
            assert_eq!((total("open").await, total("closed").await), (json!(1), json!(1)), "{page}");
        }
        // No winner is determined, then or later.
        site.wait(2 * HOUR).await;
        assert_eq!(state(&site, challenge).await, json!(["awarded", 3, 3, "Open"]));
        assert_eq!(site.published("arena.close").await, Vec::<Value>::new());
        assert!(site.published("arena.award").await.is_empty(), "the block is not deep enough");
        site.chain.mine_empty(10);
        site.gateway.indexed(&site.chain).await;
        TestGateway::eventually(LIMIT, "the award is told", || async {
            site.wait(5).await;
            site.published("arena.award").await.len() == 1
        })
        .await;
        let data = json!({
            "challengeId": challenge, "title": "c", "agentId": 3, "agentName": "agent 3", "jobId": 3, "prizeWei": "0",
            "winnerSubmissionId": null, "viaJob": true
        });
        assert_eq!(site.published("arena.award").await, [data]);
        let site = site.restarted().await;
        site.wait(60).await;
        assert_eq!(site.published("arena.award").await.len(), 1);
        site.close().await;
    }
}

#[tokio::test]
async fn a_reorganisation_takes_the_award_back() {
    for site in sites().await {
        let challenge = site.open("c").await;
        site.wait(2 * HOUR).await;
        site.mine(vec![requested(1, 2, creator().address(), &format!("fmx://arena/{challenge}"))]).await;
        assert_eq!(state(&site, challenge).await, json!(["awarded", 2, 1, "Open"]));
        site.chain.reorg(1);
        site.chain.mine_empty(2);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(state(&site, challenge).await, json!(["closed", null, null, null]));
        // The creator's signed award is independent of the chain; a job that cites the challenge is linked to it.
        assert_eq!(site.award(challenge, &creator(), json!({ "agentId": 1 })).await.status, 200);
        assert_eq!(state(&site, challenge).await, json!(["awarded", 1, null, null]));
        site.mine(vec![requested(1, 2, creator().address(), &format!("fmx://arena/{challenge}"))]).await;
        assert_eq!(state(&site, challenge).await, json!(["awarded", 2, 1, "Open"]));
        site.close().await;
    }
}

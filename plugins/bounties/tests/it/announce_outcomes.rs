//! Effects of jobs on bounties are published once, when they are final.

use super::{
    LIMIT, Site, citing, poster,
    script::{completed, refunded, requested_by},
    sites,
};
use plugin_testing::{ScriptedLog, TestGateway, Value, json};

/// Mines these events, lets them become public, and returns the bounty events since.
async fn published(site: &Site, logs: Vec<ScriptedLog>) -> Vec<(String, Value)> {
    let before = site.published().await.len();
    site.chain.mine(logs);
    site.chain.mine_empty(3);
    site.gateway.indexed(&site.chain).await;
    followed(site).await;
    site.published().await.split_off(before)
}

/// Waits until the job has processed every public event.
async fn followed(site: &Site) {
    TestGateway::eventually(LIMIT, "outcomes are followed", || async {
        site.wait(11).await;
        site.read("/api/status").await["services"]["bountyOutcomes"]["oldestWaitingAgeS"].is_null()
    })
    .await;
}

fn event(kind: &str, bounty: i64, agent: i64, job: i64, more: Value) -> (String, Value) {
    let mut data = json!({
        "bountyId": bounty, "title": "T", "agentId": agent, "agentName": format!("agent {agent}"), "jobId": job
    });
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    (kind.to_owned(), data)
}

#[tokio::test]
async fn a_citing_job_awards_completes_and_reopens_in_public() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let via_job = json!({ "rewardWei": "5", "viaJob": true });
        assert_eq!(
            published(&site, vec![citing(1, 1, bounty)]).await,
            [event("bounty.award", bounty, 1, 1, via_job.clone())]
        );
        let reopened = event("bounty.reopen", bounty, 1, 1, json!({ "reason": "refunded" }));
        assert_eq!(published(&site, vec![refunded(1, "5", false)]).await, [reopened]);
        assert_eq!(published(&site, vec![citing(2, 2, bounty)]).await, [event("bounty.award", bounty, 2, 2, via_job)]);
        let complete = event("bounty.complete", bounty, 2, 2, json!({ "rewardWei": "5" }));
        assert_eq!(published(&site, vec![completed(2, "4", 5)]).await, [complete]);
        let last = site.gateway.events().await.pop().unwrap();
        assert_eq!((last.actor.as_deref(), last.subject.unwrap().id), (Some(poster().address()), bounty.to_string()));
        site.close().await;
    }
}

/// The job that settles bounties looks once a minute for what was completed a day ago.
#[tokio::test]
async fn what_was_completed_long_ago_is_settled_and_stays_completed() {
    for site in sites().await {
        let [done, open] = [site.post("done", json!({})).await, site.post("open", json!({})).await];
        published(&site, vec![citing(1, 1, done)]).await;
        published(&site, vec![completed(1, "4", 5)]).await;
        let settled = "SELECT title, is_settled FROM bounties_bounties ORDER BY id";
        site.wait(61).await;
        assert_eq!(
            site.gateway.rows(settled).await,
            ["Text(\"done\") Int(0)", "Text(\"open\") Int(0)"],
            "it is too new"
        );
        site.wait(2 * 86_400).await;
        TestGateway::eventually(LIMIT, "the first is settled", || async {
            site.wait(61).await;
            site.gateway.rows(settled).await == ["Text(\"done\") Int(1)", "Text(\"open\") Int(0)"]
        })
        .await;
        let ids = async |query: &str| {
            let list = site.read(&format!("/api/bounties?{query}")).await;
            (
                list["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect::<Vec<_>>(),
                list["total"].clone(),
            )
        };
        assert_eq!(ids("status=open").await, (vec![open], json!(1)));
        assert_eq!(ids("status=completed").await, (vec![done], json!(1)));
        assert_eq!(ids("").await, (vec![open, done], json!(2)));
        site.wait(600).await;
        let stats = site.read("/.well-known/service.json").await["live"]["stats"].clone();
        assert_eq!((&stats["bounties"], &stats["openBounties"]), (&json!(2), &json!(1)), "{stats}");
        site.close().await;
    }
}

/// The order of the last activity is stored for settled bounties, and computed for those that jobs concern.
#[tokio::test]
async fn bounties_stay_in_the_order_of_their_activity_when_they_are_settled_and_cited_again() {
    for site in sites().await {
        let [first, second, third] =
            [site.post("1", json!({})).await, site.post("2", json!({})).await, site.post("3", json!({})).await];
        published(&site, vec![citing(1, 1, second)]).await;
        published(&site, vec![completed(1, "4", 5)]).await;
        site.claim(first, &super::owner(1), json!({ "agentId": 1, "pitch": "p" })).await;
        let ordered = async |step: &str| {
            let all = site.read("/api/bounties?sort=active").await;
            let of = |item: &Value| (item["updatedAt"].as_i64().unwrap(), item["id"].as_i64().unwrap());
            let found: Vec<(i64, i64)> = all["items"].as_array().unwrap().iter().map(of).collect();
            let mut sorted = found.clone();
            sorted.sort_by(|a, b| b.cmp(a));
            assert_eq!((&found, &all["total"]), (&sorted, &json!(3)), "{step}");
            // Row by row, by the offset and by the cursor of the page before.
            let mut cursor = String::new();
            for (offset, row) in found.iter().enumerate() {
                let limited = "/api/bounties?sort=active&limit=1";
                let page = site.read(&format!("{limited}&offset={offset}")).await;
                assert_eq!(of(&page["items"][0]), *row, "{step}, offset {offset}");
                let page = site.gateway.get(&format!("{limited}{cursor}")).await;
                assert_eq!(of(&page.json()["items"][0]), *row, "{step}, cursor {cursor:?}");
                cursor = page.next_cursor().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            }
            let completed = site.read("/api/bounties?sort=active&status=completed").await;
            assert_eq!((of(&completed["items"][0]).1, &completed["total"]), (second, &json!(1)), "{step}");
            let open = site.read("/api/bounties?sort=active&status=open").await;
            assert_eq!(open["total"], 2, "{step}");
            found.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
        };
        let is_settled = async |expected: i64, step: &str| {
            TestGateway::eventually(LIMIT, step, || async {
                site.wait(61).await;
                let settled = format!("SELECT is_settled FROM bounties_bounties WHERE id = {second}");
                site.gateway.rows(&settled).await == [format!("Int({expected})")]
            })
            .await;
        };
        ordered("while its job is new").await;
        site.wait(2 * 86_400).await;
        is_settled(1, "settled").await;
        let before = ordered("settled").await;
        assert!(before.contains(&third));
        // Another job of the poster cites what is completed for good, and is refunded long after it was requested.
        published(&site, vec![citing(2, 2, second)]).await;
        ordered("cited again").await;
        site.wait(2 * 86_400).await;
        is_settled(0, "open again to changes").await;
        ordered("cited long ago").await;
        published(&site, vec![refunded(2, "5", false)]).await;
        ordered("refunded").await;
        site.wait(2 * 86_400).await;
        is_settled(1, "settled anew").await;
        ordered("settled anew").await;
        site.close().await;
    }
}

#[tokio::test]
async fn the_posters_own_award_is_told_once_and_a_job_in_its_place_says_so() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        site.award(bounty, &poster(), json!({ "agentId": 1, "jobId": 7 })).await;
        assert_eq!(published(&site, vec![requested_by(7, 1, poster().address(), "5", "fmx://payload/x")]).await, []);
        let complete = event("bounty.complete", bounty, 1, 7, json!({ "rewardWei": "5" }));
        assert_eq!(published(&site, vec![completed(7, "4", 5)]).await, [complete]);

        let bounty = site.post("T", json!({})).await;
        let awarded = site.award(bounty, &poster(), json!({ "agentId": 1 })).await.json();
        let prev = json!({ "agentId": 1, "awardedAt": awarded["awardedAt"] });
        let replaced = event("bounty.award", bounty, 2, 8, json!({ "rewardWei": "5", "viaJob": true, "prev": prev }));
        assert_eq!(published(&site, vec![citing(8, 2, bounty)]).await, [replaced]);
        site.close().await;
    }
}

#[tokio::test]
async fn effects_that_a_reorganisation_may_undo_are_not_published() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        site.mine(vec![citing(1, 1, bounty), completed(1, "4", 5)]).await;
        site.wait(30).await;
        followed(&site).await;
        assert_eq!(site.published().await.len(), 1, "shown, but not told");
        assert_eq!(site.state(bounty).await.0, "completed");
        site.chain.reorg(1);
        site.chain.mine(vec![citing(1, 2, bounty)]);
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        followed(&site).await;
        let via_job = json!({ "rewardWei": "5", "viaJob": true });
        assert_eq!(site.published().await.split_off(1), [event("bounty.award", bounty, 2, 1, via_job)]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_refund_that_passes_the_bounty_on_tells_of_the_next_job() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let via_job = || json!({ "rewardWei": "5", "viaJob": true });
        let logs = vec![citing(1, 1, bounty), citing(2, 2, bounty)];
        assert_eq!(published(&site, logs).await, [event("bounty.award", bounty, 1, 1, via_job())]);
        let next = event("bounty.award", bounty, 2, 2, via_job());
        assert_eq!(published(&site, vec![refunded(1, "5", true)]).await, [next]);
        // A restart does not publish anything again.
        let before = site.published().await.len();
        let site = site.restarted().await;
        site.wait(30).await;
        followed(&site).await;
        assert_eq!(site.published().await.len(), before);
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_that_is_cancelled_before_its_request_is_public_gives_both_events() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let awarded = event("bounty.award", bounty, 1, 1, json!({ "rewardWei": "5", "viaJob": true }));
        let reopened = event("bounty.reopen", bounty, 1, 1, json!({ "reason": "refunded" }));
        let logs = vec![citing(1, 1, bounty), refunded(1, "5", true)];
        assert_eq!(published(&site, logs).await, [awarded, reopened]);
        assert_eq!(site.state(bounty).await.0, "open");
        site.close().await;
    }
}

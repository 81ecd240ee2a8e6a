//! Reorganisations of jobs that cite a bounty: the state needs no repair, because it is not stored.

use super::{
    Site, citing, poster,
    script::{completed, refunded, requested_by},
    sites, state,
};
use plugin_testing::{ScriptedLog, Wallet, json};

/// The events of a block, and the status, agent and job of the bounty after it.
type BlockAndStatus<'a> = (Vec<ScriptedLog>, (&'a str, Option<i64>, Option<i64>));

/// Mines each list of events in a block of its own. Then removes one block after the other by a reorganisation: after each, the
/// bounty must be in the state that it had at that block.
async fn up_and_down(site: &Site, bounty: i64, steps: Vec<BlockAndStatus<'_>>) {
    let base = site.chain.head();
    let mut expected = vec![site.state(bounty).await];
    for (logs, (status, agent, job)) in &steps {
        site.mine(logs.clone()).await;
        expected.push(state(status, *agent, *job));
        assert_eq!(site.state(bounty).await, expected[expected.len() - 1]);
    }
    for count in (0..steps.len()).rev() {
        let height = site.chain.head();
        site.chain.reorg(height - base);
        for (logs, _) in &steps[..count] {
            site.chain.mine(logs.clone());
        }
        site.chain.mine_empty(height + 1 - site.chain.head());
        site.gateway.indexed(&site.chain).await;
        assert_eq!(site.state(bounty).await, expected[count], "after {count} blocks");
    }
}

#[tokio::test]
async fn a_job_that_cites_the_bounty_awards_completes_and_reopens_it() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        up_and_down(
            &site,
            bounty,
            vec![
                (vec![citing(1, 1, bounty)], ("awarded", Some(1), Some(1))),
                (vec![refunded(1, "5", true)], ("open", None, None)),
                (vec![citing(2, 2, bounty)], ("awarded", Some(2), Some(2))),
                // A job that pays another bounty already.
                (vec![citing(3, 1, bounty)], ("awarded", Some(2), Some(2))),
                (vec![completed(2, "4", 5)], ("completed", Some(2), Some(2))),
                (vec![refunded(3, "5", false)], ("completed", Some(2), Some(2))),
            ],
        )
        .await;
        site.close().await;
    }
}

#[tokio::test]
async fn a_refund_passes_the_bounty_on_to_the_next_job() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        up_and_down(
            &site,
            bounty,
            vec![
                (vec![citing(1, 1, bounty)], ("awarded", Some(1), Some(1))),
                (vec![citing(2, 2, bounty)], ("awarded", Some(1), Some(1))),
                (vec![refunded(1, "5", true)], ("awarded", Some(2), Some(2))),
                (vec![refunded(2, "5", true)], ("open", None, None)),
            ],
        )
        .await;
        site.close().await;
    }
}

#[tokio::test]
async fn jobs_of_others_award_nothing() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let uri = format!("fmx://bounty/{bounty}");
        let mine = poster();
        site.mine(vec![
            requested_by(1, 1, Wallet::new(9).address(), "5", &uri),
            requested_by(2, 1, mine.address(), "5", &format!("fmx://arena/{bounty}")),
            requested_by(3, 1, mine.address(), "5", "fmx://bounty/999"),
            requested_by(4, 1, mine.address(), "5", "fmx://bounty/"),
            requested_by(5, 1, mine.address(), "5", &format!("x{uri}")),
        ])
        .await;
        assert_eq!(site.state(bounty).await, state("open", None, None));
        site.mine(vec![requested_by(6, 2, mine.address(), "5", &format!("FMX://BOUNTY/{bounty}?and=more"))]).await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(2), Some(6)));
        site.close().await;
    }
}

#[tokio::test]
async fn an_award_without_a_job_waits_for_one_and_ends_with_its_refund() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let awarded = site.award(bounty, &poster(), json!({ "agentId": 1 })).await.json();
        // By the chain's clock the next blocks are later than the award.
        site.chain.mine_empty(20);
        site.mine(vec![citing(1, 2, bounty)]).await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(2), Some(1)));
        let linked = site.read(&format!("{}/{bounty}", super::BOUNTIES)).await;
        assert_eq!(linked["awardedAt"], awarded["awardedAt"], "when it was awarded stays");
        site.mine(vec![refunded(1, "5", true)]).await;
        assert_eq!(site.state(bounty).await, state("open", None, None));
        // An award after the refund holds.
        site.wait(3_600).await;
        site.award(bounty, &poster(), json!({ "agentId": 1 })).await;
        assert_eq!(site.state(bounty).await, state("awarded", Some(1), None));
        site.close().await;
    }
}

#[tokio::test]
async fn a_restart_and_a_new_index_change_nothing() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        site.mine(vec![citing(1, 1, bounty), citing(2, 2, bounty), refunded(1, "5", true)]).await;
        let expected = state("awarded", Some(2), Some(2));
        assert_eq!(site.state(bounty).await, expected);
        let jobs = site.gateway.rows("SELECT job_id, bounty_id FROM bounties_jobs ORDER BY job_id").await;
        let site = site.restarted().await;
        site.mine(Vec::new()).await;
        assert_eq!(site.state(bounty).await, expected);
        assert_eq!(site.gateway.rows("SELECT job_id, bounty_id FROM bounties_jobs ORDER BY job_id").await, jobs);
        site.close().await;
    }
}

//! Sort orders of `GET /api/agents`, with ties.

use super::{
    Site,
    script::{agent, completed, delivered, disputed, done, outcome, requested, resolved},
    sites,
};
use plugin_testing::ScriptedLog;

async fn order(site: &Site, sort: &str) -> Vec<i64> {
    site.ids(&format!("/api/agents?sort={sort}")).await
}

fn agents(count: u64) -> Vec<Vec<ScriptedLog>> {
    (1..=count).map(agent).collect()
}

#[tokio::test]
async fn newest_is_the_default_and_what_an_unknown_order_means() {
    for site in sites(agents(3)).await {
        for sort in ["newest", "", "RATING", "oldest"] {
            assert_eq!(order(&site, sort).await, [3, 2, 1], "{sort}");
        }
        assert_eq!(site.ids("/api/agents").await, [3, 2, 1]);
        site.close().await;
    }
}

#[tokio::test]
async fn only_jobs_that_moved_something_count_and_payers_break_ties() {
    let mut blocks = agents(4);
    blocks.push(
        [
            // Five jobs with amount 0.
            (1..=5).flat_map(|job| done(job, 1, 50, "0", 5)).collect(),
            // Two jobs of one client.
            done(6, 2, 50, "1000", 0),
            done(7, 2, 50, "1000", 0),
            // Two jobs of two clients, for less.
            done(8, 3, 50, "1", 0),
            done(9, 3, 51, "1", 0),
            // One job.
            done(10, 4, 50, "5000", 0),
        ]
        .concat(),
    );
    for site in sites(blocks).await {
        assert_eq!(order(&site, "jobs").await, [3, 2, 4, 1]);
        assert_eq!(order(&site, "earned").await, [4, 2, 3, 1]);
        assert_eq!(site.read("/api/agents/1").await["jobsCompleted"], 5);
        site.close().await;
    }
}

#[tokio::test]
async fn with_as_many_jobs_and_payers_the_higher_earner_comes_first_then_the_newer() {
    let mut blocks = agents(3);
    blocks.push([done(1, 1, 50, "9", 0), done(2, 2, 50, "10", 0), done(3, 3, 50, "9", 0)].concat());
    for site in sites(blocks).await {
        assert_eq!(order(&site, "jobs").await, [2, 3, 1]);
        assert_eq!(order(&site, "earned").await, [2, 3, 1]);
        site.close().await;
    }
}

#[tokio::test]
async fn ratings_of_agents_without_paid_work_count_for_nothing() {
    let mut blocks = agents(5);
    blocks.push(
        [
            // Rated 5, never paid.
            done(1, 1, 50, "0", 5),
            // Paid, never rated.
            done(2, 2, 50, "7", 0),
            // Paid, 4.5 on average.
            done(3, 3, 50, "1", 4),
            done(4, 3, 50, "1", 5),
            // Paid once, 4 on average: with paid work, ratings of unpaid jobs count as well.
            done(5, 4, 50, "1", 3),
            done(6, 4, 51, "0", 5),
            // Agent 5 has no jobs.
        ]
        .concat(),
    );
    for site in sites(blocks).await {
        assert_eq!(order(&site, "rating").await, [3, 4, 2, 5, 1]);
        site.close().await;
    }
}

#[tokio::test]
async fn equal_ratings_are_ordered_by_payers_then_by_earnings() {
    let mut blocks = agents(3);
    blocks.push(
        [done(1, 1, 50, "1", 4), done(2, 1, 51, "1", 4), done(3, 2, 50, "100", 4), done(4, 3, 50, "10", 4)].concat(),
    );
    for site in sites(blocks).await {
        assert_eq!(order(&site, "rating").await, [1, 2, 3]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_resolved_job_is_paid_work_and_an_open_or_refunded_one_is_not() {
    let mut blocks = agents(2);
    blocks.push(vec![
        requested(1, 1, 50, "10"),
        delivered(1, 1, ""),
        disputed(1),
        resolved(1, "4", "5"),
        outcome(1, true, 0),
        requested(2, 2, 50, "999"),
    ]);
    for site in sites(blocks).await {
        assert_eq!(order(&site, "jobs").await, [1, 2]);
        assert_eq!(order(&site, "earned").await, [1, 2]);
        site.mine(vec![super::script::refunded(2, "999", false), outcome(2, false, 0)]).await;
        assert_eq!(order(&site, "jobs").await, [1, 2]);
        site.mine([vec![requested(3, 2, 51, "11")], vec![delivered(3, 3, ""), completed(3, "10", 0)]].concat()).await;
        assert_eq!(order(&site, "earned").await, [2, 1]);
        site.close().await;
    }
}

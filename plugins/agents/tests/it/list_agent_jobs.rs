//! `GET /api/agents/{id}/jobs`

use super::{
    limits,
    script::{agent, completed, delivered, disputed, done, outcome, refunded, requested, resolved},
    sites,
};
use plugin_testing::json;

#[tokio::test]
async fn an_agent_has_its_jobs_only_newest_first() {
    let blocks = vec![
        [agent(1), agent(2)].concat(),
        vec![requested(1, 1, 50, "9"), requested(2, 2, 50, "9")],
        vec![requested(3, 1, 51, "0")],
    ];
    for site in sites(blocks).await {
        assert_eq!(site.ids("/api/agents/1/jobs").await, [3, 1]);
        assert_eq!(site.ids("/api/agents/2/jobs").await, [2]);
        let list = site.read("/api/agents/1/jobs?limit=1").await;
        assert_eq!(list.as_object().unwrap().len(), 1, "no total: {list}");
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_nobody_knows_has_no_jobs() {
    for site in sites(vec![agent(1)]).await {
        assert_eq!(site.read("/api/agents/7/jobs").await, json!({ "items": [] }));
        assert_eq!(site.gateway.get("/api/agents/x/jobs").await.status, 404);
        site.close().await;
    }
}

#[tokio::test]
async fn each_state_can_be_asked_for() {
    let blocks = vec![
        agent(1),
        (1..=7).map(|job| requested(job, 1, 50, "9")).collect(),
        (2..=7).map(|job| delivered(job, job, "")).collect(),
        vec![
            completed(3, "8", 5),
            outcome(1, true, 5),
            disputed(4),
            disputed(5),
            resolved(5, "4", "4"),
            outcome(1, true, 0),
        ],
        vec![requested(8, 1, 50, "9"), refunded(8, "9", true), outcome(1, false, 0)],
    ];
    for site in sites(blocks).await {
        for (status, ids) in [
            ("open", vec![1]),
            ("delivered", vec![7, 6, 2]),
            ("Delivered", vec![7, 6, 2]),
            ("completed", vec![3]),
            ("disputed", vec![4]),
            ("resolved", vec![5]),
            ("refunded", vec![8]),
            ("unknown", vec![8, 7, 6, 5, 4, 3, 2, 1]),
        ] {
            assert_eq!(site.ids(&format!("/api/agents/1/jobs?status={status}")).await, ids, "{status}");
        }
        assert_eq!(site.ids("/api/agents/1/jobs?status=delivered&limit=1&offset=1").await, [6]);
        site.close().await;
    }
}

#[tokio::test]
async fn pages_go_to_the_end() {
    assert_eq!(limits("list_agent_jobs"), (500, 2000));
    for site in
        sites(vec![agent(1), [done(1, 1, 50, "1", 5), done(2, 1, 51, "1", 5), done(3, 1, 50, "1", 0)].concat()]).await
    {
        assert_eq!(site.ids("/api/agents/1/jobs?limit=2").await, [3, 2]);
        assert_eq!(site.ids("/api/agents/1/jobs?limit=2&offset=2").await, [1]);
        assert_eq!(site.ids("/api/agents/1/jobs?limit=9999&offset=3").await, Vec::<i64>::new());
        assert_eq!(site.ids("/api/agents/1/jobs?limit=0&offset=x").await, [3, 2, 1]);
        site.close().await;
    }
}

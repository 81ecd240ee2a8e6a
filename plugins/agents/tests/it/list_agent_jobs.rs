//! `GET /api/agents/{id}/jobs`

use super::{
    script::{agent, completed, delivered, disputed, done, many_jobs, outcome, refunded, requested, resolved},
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
        assert_eq!(site.house.get("/api/agents/x/jobs").await.status, 404);
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
async fn a_page_has_500_jobs_unless_said() {
    for site in sites([vec![agent(1)], many_jobs(501), vec![done(502, 1, 51, "1", 5)]].concat()).await {
        assert_eq!(site.ids("/api/agents/1/jobs").await, (3..=502).rev().collect::<Vec<_>>());
        assert_eq!(site.ids("/api/agents/1/jobs?limit=9999").await.len(), 502);
        assert_eq!(site.ids("/api/agents/1/jobs?limit=9999&offset=500").await, [2, 1]);
        assert_eq!(site.ids("/api/agents/1/jobs?offset=502").await, Vec::<i64>::new());
        site.close().await;
    }
}

#[test]
fn a_page_has_at_most_2000_jobs() {
    let manifest: plugin_api::manifest::Manifest =
        serde_json::from_slice(&(agents::plugin_module().manifest())().unwrap()).unwrap();
    for operation in ["list_agent_jobs", "list_jobs"] {
        let route = manifest.routes.iter().find(|route| route.operation == operation).unwrap();
        let limit = route.parameters.iter().find(|parameter| parameter.name == "limit").unwrap();
        assert_eq!((&limit.schema["maximum"], &limit.schema["default"]), (&json!(2000), &json!(500)));
    }
}

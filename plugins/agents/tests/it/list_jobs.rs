//! `GET /api/jobs`

use super::{
    Site, limits,
    script::{account, agent, registered, requested, transferred, transferred_by},
    sites,
};
use plugin_testing::json;

async fn of(site: &Site, query: &str) -> Vec<i64> {
    site.ids(&format!("/api/jobs?{query}")).await
}

#[tokio::test]
async fn no_jobs_are_an_empty_list() {
    for site in sites(vec![agent(1)]).await {
        assert_eq!(site.read("/api/jobs").await, json!({ "items": [] }));
        site.close().await;
    }
}

#[tokio::test]
async fn jobs_are_filtered_by_client_and_by_the_owner_of_their_agent() {
    let blocks = vec![
        [agent(1), agent(2), registered(3, 1, "second of 1", "")].concat(),
        vec![requested(1, 1, 50, "1"), requested(2, 2, 50, "1"), requested(3, 3, 51, "1"), requested(4, 1, 51, "1")],
    ];
    for site in sites(blocks).await {
        assert_eq!(of(&site, "").await, [4, 3, 2, 1]);
        assert_eq!(of(&site, &format!("client={}", account(50))).await, [2, 1]);
        assert_eq!(of(&site, &format!("agentOwner={}", account(1))).await, [4, 3, 1]);
        assert_eq!(of(&site, &format!("client={}&agentOwner={}", account(51), account(1))).await, [4, 3]);
        assert_eq!(of(&site, &format!("client={}", account(77))).await, Vec::<i64>::new());
        assert_eq!(of(&site, "client=&agentOwner=").await, [4, 3, 2, 1]);
        assert_eq!(of(&site, &format!("agentOwner={}&limit=1&offset=1", account(1))).await, [3]);
        // The current owner counts.
        site.mine(vec![transferred(3, 1, 2)]).await;
        assert_eq!(of(&site, &format!("agentOwner={}", account(2))).await, [3, 2]);
        site.close().await;
    }
}

#[tokio::test]
async fn an_address_is_found_in_any_case() {
    let mixed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    for site in sites(vec![agent(1), vec![requested(1, 1, 50, "1")]]).await {
        site.mine(vec![transferred_by(1, &account(1), mixed)]).await;
        for address in [mixed.to_owned(), mixed.to_lowercase()] {
            assert_eq!(of(&site, &format!("agentOwner={address}")).await, [1], "{address}");
        }
        assert_eq!(site.read("/api/agents/1").await["owner"], mixed);
        site.close().await;
    }
}

#[tokio::test]
async fn a_filter_that_is_no_address_is_refused() {
    for site in sites(vec![agent(1)]).await {
        for query in ["client=abc", "agentOwner=0x12", "client=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg"] {
            let response = site.gateway.get(&format!("/api/jobs?{query}")).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (400, Some("bad_request")), "{query}");
            let member = query.split('=').next().unwrap();
            assert!(response.json()["error"].as_str().unwrap().starts_with(member), "{}", response.text());
        }
        site.close().await;
    }
}

#[tokio::test]
async fn pages_go_to_the_end() {
    assert_eq!(limits("list_jobs"), (500, 2000));
    let jobs = (1..=5).map(|job| requested(job, 1, 50, "1")).collect();
    for site in sites(vec![agent(1), jobs]).await {
        assert_eq!(of(&site, "limit=2").await, [5, 4]);
        assert_eq!(of(&site, "limit=2&offset=2").await, [3, 2]);
        assert_eq!(of(&site, "limit=2&offset=4").await, [1]);
        assert_eq!(of(&site, "limit=9999&offset=5").await, Vec::<i64>::new());
        site.close().await;
    }
}

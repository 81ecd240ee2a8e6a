//! The job that reads the escrow's review window.

use super::{
    Site,
    script::{agent, delivered, requested},
    sites,
};
use plugin_testing::{ScriptedChain, TestGateway, json};
use std::time::Duration;

const DELIVERED_AT: i64 = 1_767_225_614;

async fn deadline(site: &Site) -> i64 {
    site.read("/api/jobs/1").await["reviewDeadline"].as_i64().unwrap()
}

#[tokio::test]
async fn the_deadline_follows_the_escrow() {
    for site in sites(vec![agent(1), vec![requested(1, 1, 50, "1"), delivered(1, 1, "")]]).await {
        assert_eq!(deadline(&site).await, DELIVERED_AT + 86_400, "before the escrow was asked");
        for window in [3600, 7200] {
            let escrow = ScriptedChain::address_of("escrow");
            site.chain.mock_call(escrow, "reviewWindow() returns (uint64)", &[json!(window)]);
            TestGateway::eventually(Duration::from_secs(60), "the escrow is asked", || async {
                site.gateway.clock().advance(Duration::from_secs(61)).await;
                deadline(&site).await == DELIVERED_AT + window
            })
            .await;
            assert_eq!(site.read("/api/agents/1/jobs").await["items"][0]["claimableAt"], DELIVERED_AT + window);
        }
        site.close().await;
    }
}

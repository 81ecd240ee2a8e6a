//! Numbers that cannot be renewed: served for an hour, marked, and never mixed with newer ones.

use crate::fixture::{ROUND, config, each, get, rounds, taken};
use plugin_testing::{Fault, TestGateway, json};
use std::time::Duration;

async fn stale(gateway: &TestGateway) -> bool {
    get(gateway, "/api/supply").await.json()["stale"] == true
}

#[tokio::test]
async fn the_last_snapshot_is_served_for_an_hour() {
    each(config(), async |chain, gateway| {
        chain.mine_empty(70);
        let first = taken(&gateway, chain).await;
        // The burned fees of the next blocks cannot be counted, while heads, blocks and balances can be read.
        chain.fail_always(Some(Fault::NullOn("eth_feeHistory")));
        chain.mine_empty(10);
        rounds(&gateway, "the snapshot is stale", async || stale(&gateway).await).await;
        let mut old = get(&gateway, "/api/supply").await.json();
        old.as_object_mut().unwrap().remove("stale");
        // Before the gateway heard of the new blocks, it may have been taken once more.
        old["computedAt"] = first["computedAt"].clone();
        assert_eq!(old, first, "nothing of it is newer");
        let view = get(&gateway, "/api/supply/total?format=json").await.json();
        assert_eq!((&view["stale"], &view["asOfBlock"]), (&json!(true), &first["asOfBlock"]));
        assert_eq!(get(&gateway, "/api/supply/total").await.status, 200);
        let status = get(&gateway, "/api/status").await.json()["services"]["supply"].clone();
        assert_eq!(status["ok"], false, "{status}");
        gateway.clock().advance(Duration::from_secs(3600)).await;
        assert_eq!(get(&gateway, "/api/supply/total").await.status, 503);
        chain.fail_always(None);
        assert_eq!(taken(&gateway, chain).await["asOfBlock"], 16);
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_server_without_a_header_is_waited_for() {
    each(config(), async |chain, gateway| {
        chain.mine_empty(10);
        chain.mine_fees(100, 5);
        chain.mine_empty(64);
        chain.fail_always(Some(Fault::NullOn("eth_getBlockByNumber")));
        for _ in 0..3 {
            gateway.clock().advance(ROUND).await;
        }
        assert_eq!(get(&gateway, "/api/supply").await.status, 503);
        chain.fail_always(None);
        assert_eq!(taken(&gateway, chain).await["components"]["burnedBaseFees"]["wei"], "500");
        gateway
    })
    .await;
}

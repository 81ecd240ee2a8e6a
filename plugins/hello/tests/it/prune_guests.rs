//! The job `prune_guests`.

use crate::{close, gateways, sign};
use plugin_testing::{TestGateway, Wallet};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MINUTE: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(10);

async fn total(gateway: &TestGateway) -> i64 {
    gateway.get("/api/hello/guests").await.json()["total"].as_i64().unwrap()
}

#[tokio::test]
async fn only_old_messages_are_deleted() {
    for gateway in gateways().await {
        assert_eq!(sign(&gateway, &Wallet::new(1), "written first").await.status, 201);
        gateway.clock().advance(DAY * 200).await;
        assert_eq!(sign(&gateway, &Wallet::new(1), "written later").await.status, 201);
        assert_eq!(total(&gateway).await, 2);

        gateway.clock().advance(DAY * 170).await;
        // A run that was in progress when the clock moved used the old time; the next one is an interval later.
        let is_gone = async || {
            gateway.clock().advance(MINUTE).await;
            total(&gateway).await == 1
        };
        TestGateway::eventually(LIMIT, "the old message is deleted", is_gone).await;
        let book = gateway.get("/api/hello/guests").await.json();
        assert_eq!(book["items"][0]["message"], "written later");
        close(gateway).await;
    }
}

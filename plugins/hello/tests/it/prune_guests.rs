//! The job `prune_guests`.

use crate::{close, houses, sign};
use plugin_testing::{TestGateway, Wallet};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MINUTE: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(10);

async fn total(house: &TestGateway) -> i64 {
    house.get("/api/hello/guests").await.json()["total"].as_i64().unwrap()
}

#[tokio::test]
async fn old_messages_are_deleted_and_young_ones_stay() {
    for house in houses().await {
        assert_eq!(sign(&house, &Wallet::new(1), "written first").await.status, 201);
        house.clock().advance(DAY * 200).await;
        assert_eq!(sign(&house, &Wallet::new(1), "written later").await.status, 201);
        assert_eq!(total(&house).await, 2);

        house.clock().advance(DAY * 170).await;
        // A run that was under way when the clock moved saw the time before: the next one is an interval later.
        let is_gone = async || {
            house.clock().advance(MINUTE).await;
            total(&house).await == 1
        };
        TestGateway::eventually(LIMIT, "the old message is deleted", is_gone).await;
        let book = house.get("/api/hello/guests").await.json();
        assert_eq!(book["items"][0]["message"], "written later");
        close(house).await;
    }
}

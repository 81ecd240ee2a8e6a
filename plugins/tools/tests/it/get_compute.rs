//! `GET /api/compute/{id}`

use super::{COMPUTE, NOWHERE, TOOLS, compute, finish, houses, next, publish, read, tool, with};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_listing_is_the_tool_with_what_is_for_rent_at_the_top() {
    for house in houses().await {
        let published = publish(&house, &Wallet::new(1), compute("gpu")).await;
        let spec = json!({
            "gpu": "NVIDIA H100", "vramGb": 80, "pricePerSecond": "1000", "region": "EU-West", "endpoint": NOWHERE
        });
        assert_eq!(published["compute"], spec);
        let listing = read(&house, &format!("{COMPUTE}/{}", published["id"])).await;
        assert_eq!(listing, with(published.clone(), spec));
        assert_eq!(read(&house, &format!("{TOOLS}/{}", published["id"])).await, published);
        finish(house).await;
    }
}

#[tokio::test]
async fn a_tool_of_another_kind_is_no_listing() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let other = publish(&house, &alice, tool("one")).await;
        next(&house).await;
        let listing = publish(&house, &alice, compute("two")).await;
        next(&house).await;
        let path = format!("{COMPUTE}/{}", listing["id"]);
        assert_eq!(house.get(&path).await.status, 200);
        // It is rented out no longer.
        publish(&house, &alice, tool("two")).await;
        for path in [path, format!("{COMPUTE}/{}", other["id"]), format!("{COMPUTE}/999999"), format!("{COMPUTE}/x")] {
            let answer = house.get(&path).await;
            assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()), "{path}");
        }
        assert_eq!(read(&house, COMPUTE).await["total"], 0);
        finish(house).await;
    }
}

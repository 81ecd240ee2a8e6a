//! `GET /api/compute/{id}`

use super::{COMPUTE, NOWHERE, TOOLS, compute, finish, gateways, next, publish, read, tool, with};
use plugin_testing::{Value, Wallet, json};

#[tokio::test]
async fn a_listing_is_the_tool_with_what_is_for_rent_at_the_top() {
    for gateway in gateways().await {
        let published = publish(&gateway, &Wallet::new(1), compute("gpu")).await;
        let spec = json!({
            "gpu": "NVIDIA H100", "vramGb": 80, "pricePerSecond": "1000", "region": "EU-West", "endpoint": NOWHERE
        });
        assert_eq!(published["compute"], spec);
        let listing = read(&gateway, &format!("{COMPUTE}/{}", published["id"])).await;
        // A probe may have come between.
        let same = |tool: Value| with(tool, json!({ "lastProbeAt": null }));
        assert_eq!(same(listing), with(published.clone(), spec));
        assert_eq!(same(read(&gateway, &format!("{TOOLS}/{}", published["id"])).await), published);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_tool_of_another_kind_is_no_listing() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let other = publish(&gateway, &alice, tool("one")).await;
        next(&gateway).await;
        let listing = publish(&gateway, &alice, compute("two")).await;
        next(&gateway).await;
        let path = format!("{COMPUTE}/{}", listing["id"]);
        assert_eq!(gateway.get(&path).await.status, 200);
        // It is no longer for rent.
        publish(&gateway, &alice, tool("two")).await;
        for path in [path, format!("{COMPUTE}/{}", other["id"]), format!("{COMPUTE}/999999"), format!("{COMPUTE}/x")] {
            let response = gateway.get(&path).await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{path}");
        }
        assert_eq!(read(&gateway, COMPUTE).await["total"], 0);
        finish(gateway).await;
    }
}

//! The number of coins that circulate: without those of the excluded addresses.

use crate::fixture::{COIN, config, get, prepared, taken};
use plugin_testing::{ScriptedChain, TestGateway, json};

#[tokio::test]
async fn what_the_foundation_holds_does_not_circulate() {
    let chain = ScriptedChain::start().await;
    let treasury = ScriptedChain::address_of("treasury");
    chain.set_balance(treasury, &(3 * COIN / 2).to_string());
    chain.mine_empty(65);
    let mut config = config();
    config["excluded"] = json!([{ "address": treasury, "label": "treasury", "category": "foundation" }]);
    let gateway = prepared(TestGateway::builder(), &chain, &config).start().await;
    taken(&gateway, &chain).await;
    // One block of 2 coins is paid.
    for (path, number) in [("total", "1002"), ("circulating", "1000.5")] {
        assert_eq!(get(&gateway, &format!("/api/supply/{path}")).await.text(), number);
    }
    let view = get(&gateway, "/api/supply/circulating?format=json").await.json();
    assert_eq!((&view["circulatingSupply"], &view["wei"]), (&json!("1000.5"), &json!("1000500000000000000000")));
    gateway.stop().await;
}

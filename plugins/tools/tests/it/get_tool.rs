//! `GET /api/tools/{id}`

use super::{TOOLS, finish, gateways, publish, read, tool};
use plugin_testing::Wallet;

#[tokio::test]
async fn a_tool_is_read_as_it_was_published_also_after_a_restart() {
    for gateway in gateways().await {
        let published = publish(&gateway, &Wallet::new(1), tool("one")).await;
        publish(&gateway, &Wallet::new(2), tool("two")).await;
        let path = format!("{TOOLS}/{}", published["id"]);
        assert_eq!(read(&gateway, &path).await, published);
        let gateway = gateway.restart().await;
        assert_eq!(read(&gateway, &path).await["name"], "one");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_tool_is_not_found() {
    for gateway in gateways().await {
        publish(&gateway, &Wallet::new(1), tool("one")).await;
        for unknown in ["999999", "0", "-1", "one", "1.5", "99999999999999999999", "%00"] {
            let response = gateway.get(&format!("{TOOLS}/{unknown}")).await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{unknown}");
        }
        finish(gateway).await;
    }
}

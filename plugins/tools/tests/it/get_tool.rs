//! `GET /api/tools/{id}`

use super::{TOOLS, finish, houses, publish, read, tool};
use plugin_testing::Wallet;

#[tokio::test]
async fn a_tool_is_read_as_it_was_published_also_after_a_restart() {
    for house in houses().await {
        let published = publish(&house, &Wallet::new(1), tool("one")).await;
        publish(&house, &Wallet::new(2), tool("two")).await;
        let path = format!("{TOOLS}/{}", published["id"]);
        assert_eq!(read(&house, &path).await, published);
        let house = house.restart().await;
        assert_eq!(read(&house, &path).await["name"], "one");
        finish(house).await;
    }
}

#[tokio::test]
async fn what_names_no_tool_is_not_found() {
    for house in houses().await {
        publish(&house, &Wallet::new(1), tool("one")).await;
        for unknown in ["999999", "0", "-1", "one", "1.5", "99999999999999999999", "%00"] {
            let answer = house.get(&format!("{TOOLS}/{unknown}")).await;
            assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()), "{unknown}");
        }
        finish(house).await;
    }
}

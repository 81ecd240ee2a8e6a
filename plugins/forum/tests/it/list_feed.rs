//! `GET /api/forum/feed`

use super::{finish, gateways, id, next, open_titled, read, reply};
use plugin_testing::{Value, Wallet, json};

const FEED: &str = "/api/forum/feed";

#[tokio::test]
async fn an_empty_forum_has_an_empty_feed() {
    for gateway in gateways().await {
        let now = gateway.now_s();
        assert_eq!(read(&gateway, FEED).await, json!({ "items": [], "since": 0, "now": now }));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_newest_post_is_first_with_the_title_of_its_thread() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let thread = open_titled(&gateway, &alice, "Ä title").await;
        next(&gateway).await;
        let post = reply(&gateway, &alice, thread, json!({ "body": "first" })).await;
        // The same second: the larger id comes first.
        let tied = reply(&gateway, &bob, thread, json!({ "body": "second" })).await;
        let feed = read(&gateway, FEED).await;
        let items = feed["items"].as_array().unwrap();
        assert_eq!(items.iter().map(id).collect::<Vec<_>>()[..2], [id(&tied), id(&post)]);
        assert_eq!(items.len(), 3);
        let mut expected = tied.clone();
        expected["threadTitle"] = json!("Ä title");
        assert_eq!(items[0], expected);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn since_filters_older_posts() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let thread = open_titled(&gateway, &alice, "T").await;
        let opened = gateway.now_s();
        next(&gateway).await;
        let post = reply(&gateway, &alice, thread, json!({ "body": "later" })).await;
        let ids = |feed: &Value| feed["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>();
        let feed = read(&gateway, &format!("{FEED}?since={opened}")).await;
        assert_eq!((ids(&feed), &feed["since"]), (vec![id(&post)], &json!(opened)));
        assert_eq!(ids(&read(&gateway, &format!("{FEED}?since={}", opened - 1)).await).len(), 2);
        assert!(ids(&read(&gateway, &format!("{FEED}?since={}", opened + 2)).await).is_empty());
        for bad in ["abc", "", "NaN", "1e999"] {
            let feed = read(&gateway, &format!("{FEED}?since={bad}")).await;
            assert_eq!((ids(&feed).len(), &feed["since"]), (2, &json!(0)), "{bad}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_limit_is_lenient() {
    for gateway in gateways().await {
        let thread = open_titled(&gateway, &Wallet::new(1), "T").await;
        reply(&gateway, &Wallet::new(2), thread, json!({ "body": "b" })).await;
        for (limit, items) in [("1", 1), ("2", 2), ("-5", 1), ("0", 2), ("x", 2), ("9999", 2)] {
            let feed = read(&gateway, &format!("{FEED}?limit={limit}")).await;
            assert_eq!(feed["items"].as_array().unwrap().len(), items, "{limit}");
        }
        finish(gateway).await;
    }
}

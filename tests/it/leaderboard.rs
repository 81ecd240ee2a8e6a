//! The leaderboard is the sum of what plugins contribute: here those that do, together.

use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

async fn write(gateway: &TestGateway, path: &str, author: &Wallet, action: &str, payload: Value) -> Value {
    // The interval between two writes of one wallet.
    gateway.clock().advance(Duration::from_secs(2)).await;
    let answer = gateway.post_signed(path, author, action, payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

async fn forum_posts(gateway: &TestGateway, period: &str) -> Vec<(String, i64)> {
    // One result serves for a while.
    gateway.clock().advance(Duration::from_secs(10)).await;
    let board = gateway.get("/api/leaderboard").await.json();
    let entries = board["periods"][period].as_array().unwrap_or_else(|| panic!("{board}")).iter();
    let posts = |entry: &Value| Some((entry["address"].as_str()?.to_owned(), entry["forumPosts"].as_i64()?));
    entries.filter_map(posts).collect()
}

#[tokio::test]
async fn posts_count_for_their_authors_in_each_period() {
    for gateway in TestGateway::each_database(&[activity::plugin_module(), forum::plugin_module()]).await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        assert_eq!(forum_posts(&gateway, "all").await, []);
        let opening = json!({ "title": "T", "body": "b" });
        let thread = write(&gateway, "/api/forum/threads", &alice, "thread.create", opening).await["id"].clone();
        gateway.clock().advance(Duration::from_secs(2_592_000)).await;
        for body in ["+1", "b"] {
            write(
                &gateway,
                &format!("/api/forum/threads/{thread}/posts"),
                &bob,
                "post.create",
                json!({ "body": body }),
            )
            .await;
        }
        let (a, b) = (alice.address().to_owned(), bob.address().to_owned());
        assert_eq!(forum_posts(&gateway, "30d").await, [(b.clone(), 2)]);
        assert_eq!(forum_posts(&gateway, "all").await, [(b, 2), (a, 1)]);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

//! The leaderboard is the sum of what plugins contribute: here those that do, together.

use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

async fn write(house: &TestGateway, path: &str, author: &Wallet, action: &str, payload: Value) -> Value {
    // The interval between two writes of one wallet.
    house.clock().advance(Duration::from_secs(2)).await;
    let answer = house.post_signed(path, author, action, payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

async fn forum_posts(house: &TestGateway, period: &str) -> Vec<(String, i64)> {
    // One result serves for a while.
    house.clock().advance(Duration::from_secs(10)).await;
    let board = house.get("/api/leaderboard").await.json();
    let entries = board["periods"][period].as_array().unwrap_or_else(|| panic!("{board}")).iter();
    let posts = |entry: &Value| Some((entry["address"].as_str()?.to_owned(), entry["forumPosts"].as_i64()?));
    entries.filter_map(posts).collect()
}

#[tokio::test]
async fn posts_count_for_their_authors_in_each_period() {
    for house in TestGateway::each_database(&[activity::plugin_module(), forum::plugin_module()]).await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        assert_eq!(forum_posts(&house, "all").await, []);
        let opening = json!({ "title": "T", "body": "b" });
        let thread = write(&house, "/api/forum/threads", &alice, "thread.create", opening).await["id"].clone();
        house.clock().advance(Duration::from_secs(2_592_000)).await;
        for body in ["+1", "b"] {
            write(&house, &format!("/api/forum/threads/{thread}/posts"), &bob, "post.create", json!({ "body": body }))
                .await;
        }
        let (a, b) = (alice.address().to_owned(), bob.address().to_owned());
        assert_eq!(forum_posts(&house, "30d").await, [(b.clone(), 2)]);
        assert_eq!(forum_posts(&house, "all").await, [(b, 2), (a, 1)]);
        assert_eq!(house.faults().await, Vec::<String>::new());
        house.stop().await;
    }
}

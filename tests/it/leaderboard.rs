//! The leaderboard is the sum of what plugins contribute: here those that do, together.

use gateway_tests::load_test_wallets::XPUB;
use plugin_api::point::{LEADERBOARD, LeaderboardInput};
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

/// `(number, address)` of 1,200 addresses.
const CROWD: &str = "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1200), \
     crowd (number, address) AS (SELECT number, '0x' || '00000000000000000000000000000000000' || (10000 + number) FROM numbers)";

/// The last of the crowd wrote most in the forum and least in the knowledge base.
#[tokio::test]
async fn of_many_addresses_the_best_are_contributed_and_their_entries_are_exact() {
    let plugins = [activity::plugin_module(), forum::plugin_module(), kb::plugin_module()];
    for gateway in TestGateway::each_database(&plugins).await {
        let now = gateway.now_s();
        let post = format!(
            "{CROWD} INSERT INTO forum_posts (thread_id, author, body, created_at) SELECT 1, address, '', {now} FROM crowd"
        );
        let edit = format!(
            "{CROWD} INSERT INTO kb_revisions (page_id, rev, author, created_at, body, kept) \
             SELECT 1, 10 * number + {{}}, address, {now}, '', '{{}}' FROM crowd"
        );
        gateway.execute("INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt, kept) VALUES ('', '[]', '', 1, 1, 1, 0, '', '{}')").await;
        gateway.execute(&post).await;
        for _ in 0..6 {
            gateway.execute(&format!("{post} WHERE number = 1200")).await;
        }
        gateway.execute(&edit.replacen("{}", "1", 1)).await;
        gateway.execute(&format!("{} WHERE number < 1200", edit.replacen("{}", "2", 1))).await;

        let parts = gateway.collect(LEADERBOARD.name(), &json!({})).await;
        let sizes: Vec<_> = parts.values().map(|part| part.as_object().map(serde_json::Map::len)).collect();
        assert_eq!(sizes, [Some(LeaderboardInput::BEST); 2], "forum and kb give their best");
        let last = "0x0000000000000000000000000000000000011200";
        assert_eq!(parts["kb"].get(last), None, "who edited least is not among them");
        let asked = gateway.collect(LEADERBOARD.name(), &json!({ "since_s": now, "addresses": [last] })).await;
        assert_eq!(json!(asked), json!({ "forum": { last: { "forumPosts": 7 } }, "kb": { last: { "kbEdits": 1 } } }));
        assert_eq!(gateway.collect(LEADERBOARD.name(), &json!({ "addresses": [] })).await["kb"], json!({}));

        let board = gateway.get("/api/leaderboard?limit=2").await.json();
        for period in ["30d", "all"] {
            let entry = |index: usize| {
                let entry = &board["periods"][period][index];
                json!([entry["address"], entry["forumPosts"], entry["kbEdits"], entry["score"]])
            };
            assert_eq!(entry(0), json!([last, 7, 1, 10]), "{board}");
            assert_eq!(entry(1), json!(["0x0000000000000000000000000000000000010001", 1, 2, 7]));
        }
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

/// Plugins whose contributions are joined with the view of labelled addresses.
#[tokio::test]
async fn labelled_addresses_are_on_no_board() {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let plugins = [
            activity::plugin_module(),
            agents::plugin_module(),
            arena::plugin_module(),
            artifacts::plugin_module(),
            forum::plugin_module(),
            kb::plugin_module(),
            loadtest::plugin_module(),
            payloads::plugin_module(),
        ];
        let builder = plugins.into_iter().fold(builder, plugin_testing::Builder::plugin);
        let gateway = builder.config("loadtest", json!({ "xpub": XPUB, "wallets": 3 })).start().await;
        let derived = async || {
            gateway.clock().advance(Duration::from_secs(10)).await;
            gateway.get("/api/loadtest/stats").await.json()["membership"]["loaded"] == 3
        };
        TestGateway::eventually(Duration::from_secs(60), "the wallets are derived", derived).await;
        let (robot, alice) = (Wallet::new(1), Wallet::new(2));
        for author in [&robot, &alice] {
            let opening = json!({ "title": "T", "body": "b" });
            let thread = write(&gateway, "/api/forum/threads", author, "thread.create", opening).await["id"].clone();
            let path = format!("/api/forum/threads/{thread}/posts");
            write(&gateway, &path, author, "post.create", json!({ "body": "+1" })).await;
        }
        let (a, r) = (alice.address().to_owned(), robot.address().to_owned());
        let mut both = [(a.clone(), 2), (r.clone(), 2)];
        both.sort();
        assert_eq!(forum_posts(&gateway, "all").await, both);
        gateway.execute(&format!("INSERT INTO loadtest_wallets (idx, address, is_seen) VALUES (4, '{r}', 0)")).await;
        for period in ["30d", "all"] {
            assert_eq!(forum_posts(&gateway, period).await, [(a.clone(), 2)], "{period}");
        }
        // A view that the contributor does not publish would fail the statements of the others.
        let labelled = json!([{ "view": "loadtest_labelled_v1" }]);
        let parts = gateway.collect(LEADERBOARD.name(), &json!({ "since_s": 0, "labelled": labelled })).await;
        assert_eq!(parts.len(), 5, "{parts:?}");
        assert_eq!(parts["forum"], json!({ a: { "forumPosts": 2 } }));
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

//! Contributions of the forum.

use super::{finish, gateways, id, open, open_titled, read, reply};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";

async fn counts(gateway: &TestGateway) -> (i64, i64) {
    // The gateway caches these documents for a while.
    gateway.clock().advance(Duration::from_secs(600)).await;
    let stats = read(gateway, MANIFEST).await["live"]["stats"].clone();
    let count = |name: &str| stats[name].as_i64().unwrap_or_else(|| panic!("{name}: {stats}"));
    (count("threads"), count("posts"))
}

#[tokio::test]
async fn the_manifest_counts_threads_and_posts() {
    for gateway in gateways().await {
        assert_eq!(counts(&gateway).await, (0, 0));
        let thread = open_titled(&gateway, &Wallet::new(1), "one").await;
        open_titled(&gateway, &Wallet::new(2), "two").await;
        reply(&gateway, &Wallet::new(3), thread, json!({ "body": "b" })).await;
        assert_eq!(counts(&gateway).await, (2, 3));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_manifest_names_endpoints_and_limits() {
    let gateway = TestGateway::builder().plugin(forum::plugin_module()).start().await;
    let manifest = read(&gateway, MANIFEST).await;
    for (name, path) in [("forum", "/api/forum/threads"), ("feed", "/api/forum/feed")] {
        let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
        assert!(endpoint.ends_with(path), "{name}: {endpoint}");
    }
    for (name, limit) in [("forumBodyBytes", 16_384), ("titleChars", 200), ("tags", 5)] {
        assert_eq!(manifest["limits"][name], limit, "{name}");
    }
    finish(gateway).await;
}

#[tokio::test]
async fn a_thread_without_replies_is_work() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let thread = open(&gateway, &alice, json!({ "title": "How?", "body": "one\ntwo", "tags": ["help"] })).await;
        let answered = open_titled(&gateway, &Wallet::new(2), "answered").await;
        reply(&gateway, &Wallet::new(3), answered, json!({ "body": "b" })).await;
        let id = id(&thread);
        let item = json!({
            "kind": "question", "refId": id, "title": "How?", "summary": "one two", "tags": ["help"], "reward": "0",
            "postedAt": now, "deadline": null, "agentId": null, "claims": 0, "requester": alice.address(),
            "page": format!("/forum/{id}"), "api": format!("/api/forum/threads/{id}"),
            "action": format!("POST /api/forum/threads/{id}/posts {{body}} signed as post.create")
        });
        let made_by = |kind: &str, thread: i64| json!({ "made_by": { "type": kind, "data": { "threadId": thread } } });
        for (input, items) in [
            (json!({}), json!([item])),
            (made_by("thread.create", id), json!([item])),
            (made_by("thread.create", answered), json!([])),
            (made_by("post.create", id), json!([])),
        ] {
            assert_eq!(gateway.collect("work", &input).await["forum"], items, "{input}");
        }
        finish(gateway).await;
    }
}

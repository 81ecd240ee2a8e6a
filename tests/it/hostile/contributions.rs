//! Contributions that panic, hang, have another shape, or ask for themselves: the documents are still served, and the
//! report names the plugin that did not respond.

use super::{LIMIT, assert_others_serve, assert_serving, builder, gateway, last_fault, post, report, variants};
use crate::storage::Engine;
use gateway_plugins::PluginState;
use http_body_util::BodyExt as _;
use plugin_testing::{TestGateway, Wallet, json};
use rstest::rstest;
use std::time::{Duration, Instant};

const DOCUMENTS: [&str; 6] =
    ["/api/stats", "/api/status", "/api/health", "/api", "/llms.txt", "/.well-known/agent.json"];

#[rstest]
#[case("panic", "panic in point ", "in a contribution at tests/hostile/src/config.rs:")]
#[case("misshape", "error in point ", "a contribution has another shape")]
#[tokio::test]
async fn the_gateways_documents_do_not_depend_on_a_plugin(#[case] act: &str, #[case] kind: &str, #[case] said: &str) {
    let gateway = gateway(json!({ "contribution": act })).await;
    for document in DOCUMENTS {
        let answer = gateway.get(document).await;
        assert_eq!(answer.status, 200, "{document}: {}", answer.text());
    }
    let fault = last_fault(&gateway).await;
    assert!(fault.starts_with(kind) && fault.contains(said), "{fault}");
    let status = gateway.get("/api/status").await;
    assert_eq!(status.json()["services"]["hostile"]["ok"], false, "{}", status.text());
    assert!(status.header("x-service-degraded").contains("hostile"));
    assert_serving(&gateway).await;
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

/// One name, entry and question of well-behaved contributors are there, and no fault is one of the plugins that collect them.
#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_wrong_contribution_costs_its_contributor_only(#[case] engine: Engine) {
    let collectors = [activity::plugin_module(), agents::plugin_module(), work::plugin_module()];
    let contributors = [forum::plugin_module(), variants::NamesAuthors::module(), variants::Misshapes::module()];
    let plugins = collectors.into_iter().chain(contributors);
    let builder = plugins.fold(builder(engine).await, plugin_testing::Builder::plugin);
    let gateway = builder.configure(|config| config.plugins.fence_faults = 3).open().await;
    let question = json!({ "title": "Why?", "body": "b" });
    let opened = gateway.post_signed("/api/forum/threads", &Wallet::new(1), "thread.create", question).await;
    assert_eq!(opened.status, 201, "{}", opened.text());

    for _ in 0..3 {
        // One leaderboard serves for a while.
        gateway.clock().advance(Duration::from_secs(10)).await;
        let log = gateway.get("/api/activity").await;
        let board = gateway.get("/api/leaderboard").await;
        let work = gateway.get("/api/work").await;
        assert_eq!([log.status, board.status, work.status], [200; 3], "{}", log.text());
        assert_eq!(log.json()["items"][0]["actor"]["name"], "Alice", "{}", log.text());
        assert_eq!(board.json()["periods"]["all"][0]["forumPosts"], 1, "{}", board.text());
        assert_eq!(work.json()["items"][0]["title"], "Why?", "{}", work.text());
    }
    let is_fenced = async || report(&gateway, "misshapes").await.state == PluginState::Fenced;
    TestGateway::eventually(LIMIT, "the contributor is fenced", is_fenced).await;
    let reason = report(&gateway, "misshapes").await.reason;
    assert!(reason.starts_with("point authors, point leaderboard, point work were paused; "), "{reason}");
    assert!(reason.contains(": a contribution has another shape: "), "{reason}");
    for plugin in ["activity", "work", "forum", "names_authors"] {
        let told = report(&gateway, plugin).await;
        assert_eq!((told.state, told.faults), (PluginState::Serving, 0), "{told:?}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_contribution_that_hangs_delays_a_document_and_no_more() {
    let gateway = gateway(json!({ "contribution": "hang" })).await;
    let begun = Instant::now();
    let (stats, ()) = tokio::join!(gateway.get("/api/stats"), assert_others_serve(&gateway, 1));
    assert_eq!(stats.status, 200, "{}", stats.text());
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
    assert!(last_fault(&gateway).await.starts_with("timeout in point "), "{}", last_fault(&gateway).await);
    gateway.stop().await;
}

/// Each asks all three, which each ask all three: without an end it would use up the stack.
#[tokio::test]
async fn contributions_in_a_circle_end() {
    let gateway = gateway(json!({ "contribution": "circle" })).await;
    assert_eq!(gateway.get("/api/stats").await.status, 200);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[rstest]
#[case("panic", "panic in topic hostile: in the stream's frames at ")]
#[case("misshape", "error in topic hostile: frames without rows, or in another order")]
#[tokio::test]
async fn a_topic_that_cannot_be_rendered_is_a_fault(#[case] act: &str, #[case] said: &str) {
    let gateway = gateway(json!({ "contribution": act })).await;
    let reader = gateway.open_stream("GET", "/api/hostile/topic", &[], "").await;
    assert_eq!(reader.status(), 200);
    let reader = tokio::spawn(reader.into_body().collect());
    assert_eq!(post(&gateway, "event_fine").await.status, 200);
    let told = async || report(&gateway, "hostile").await.last_fault.is_some_and(|fault| fault.starts_with(said));
    TestGateway::eventually(LIMIT, said, told).await;
    reader.abort();
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

//! Faults of an RPC server: what needs it degrades, `/api/status` says so, and everything recovers by itself.

use super::{LIMIT, assert_as_anew, builders, close, derived, indexed, play, service, settings};
use gateway_config::ChainConfig;
use gateway_tests::devnet::Devnet;
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn a_server_that_fails_is_told_of_and_heals() {
    let devnet = Devnet::start().await.unwrap();
    let settings = settings(&devnet);
    let gateway = builders(&settings).await.remove(0).start().await;
    indexed(&gateway, &devnet).await;
    for (number, mode) in (1..).zip(["status", "garbage", "truncated", "reset", "timeout", "error"]) {
        devnet.control(json!({ "failures": [{ "mode": mode }] })).await.unwrap();
        play(&devnet, number).await;
        TestGateway::eventually(LIMIT, mode, || async { service(&gateway, "rpc").await["ok"] == false }).await;
        let status = gateway.get("/api/status").await.json();
        assert!(status["degraded"].to_string().contains("rpc"), "{mode}: {status}");
        assert!(status["services"]["rpc"]["detail"].as_str().is_some(), "{mode}: {status}");
        devnet.honest().await.unwrap();
        indexed(&gateway, &devnet).await;
        TestGateway::eventually(LIMIT, "healed", || async { service(&gateway, "rpc").await["ok"] == true }).await;
    }
    assert_as_anew(&gateway, &settings, &devnet, "six kinds of failures").await;
    close(gateway).await;
}

#[tokio::test]
async fn failures_now_and_then_do_not_stop_the_index() {
    let devnet = Devnet::start().await.unwrap();
    let settings = settings(&devnet);
    let modes = ["status", "garbage", "truncated", "reset", "timeout", "error"];
    let failures: Vec<_> = (20..).zip(modes).map(|(every, mode)| json!({ "mode": mode, "every": every })).collect();
    devnet.control(json!({ "failures": failures })).await.unwrap();
    let gateway = builders(&settings).await.remove(0).start().await;
    for agent in 1..=5 {
        play(&devnet, agent).await;
    }
    indexed(&gateway, &devnet).await;
    devnet.honest().await.unwrap();
    assert_as_anew(&gateway, &settings, &devnet, "one answer of four is none").await;
    close(gateway).await;
}

#[tokio::test]
async fn caps_on_questions_for_events_are_met_whatever_their_words() {
    let devnet = Devnet::start_with(&["--agents", "10"]).await.unwrap();
    devnet.mine(300).await.unwrap();
    let settings = settings(&devnet);
    let honest = builders(&settings).await.remove(0).start().await;
    indexed(&honest, &devnet).await;
    for style in ["infura", "alchemy", "quicknode", "ankr", "bsc", "geth"] {
        devnet.control(json!({ "logsRangeMax": 30, "logsResultsMax": 40, "logsErrorStyle": style })).await.unwrap();
        let gateway = builders(&settings).await.remove(0).start().await;
        indexed(&gateway, &devnet).await;
        assert_eq!(derived(&gateway).await, derived(&honest).await, "{style}");
        assert_eq!(service(&gateway, "rpc").await["ok"], true, "a refusal is no failure: {style}");
        close(gateway).await;
    }
    close(honest).await;
}

#[tokio::test]
async fn a_server_that_lags_is_left_for_one_that_keeps_up() {
    let devnet = Devnet::start().await.unwrap();
    let rpc = [&devnet.facts.rpc_url, &devnet.facts.anvil_url].map(|url| url.as_str().into()).to_vec();
    let settings = ChainConfig { rpc, ..settings(&devnet) };
    let gateway = builders(&settings).await.remove(0).start().await;
    indexed(&gateway, &devnet).await;
    devnet.control(json!({ "lagBlocks": 20, "lieHead": 50 })).await.unwrap();
    play(&devnet, 1).await;
    devnet.mine(10).await.unwrap();
    indexed(&gateway, &devnet).await;
    let rpc = service(&gateway, "rpc").await;
    let others = devnet.facts.anvil_url.trim_end_matches('/');
    assert!(rpc["url"].as_str().unwrap().starts_with(others), "the other one is asked: {rpc}");
    assert_as_anew(&gateway, &settings, &devnet, "one lags").await;
    close(gateway).await;
}

/// Behind a load balancer the next response may come from a server that is behind: blocks that it lacks are not empty.
#[tokio::test]
async fn a_head_that_goes_back_and_comes_again_loses_nothing() {
    let devnet = Devnet::start().await.unwrap();
    devnet.mine(20).await.unwrap();
    let settings = settings(&devnet);
    let gateway = builders(&settings).await.remove(0).start().await;
    for agent in 1..=4 {
        play(&devnet, agent).await;
        indexed(&gateway, &devnet).await;
        devnet.control(json!({ "lagBlocks": 10 })).await.unwrap();
        let seen = || async { service(&gateway, "rpc").await["head"].as_u64().unwrap_or_default() };
        let (head, _) = super::newest(&devnet).await;
        TestGateway::eventually(LIMIT, "the head is back", || async { seen().await == head - 10 }).await;
        devnet.honest().await.unwrap();
        indexed(&gateway, &devnet).await;
    }
    assert_as_anew(&gateway, &settings, &devnet, "a head that goes back").await;
    close(gateway).await;
}

#[tokio::test]
async fn events_that_are_told_twice_are_not_taken() {
    let devnet = Devnet::start().await.unwrap();
    let settings = settings(&devnet);
    devnet.control(json!({ "lieLogs": "repeat" })).await.unwrap();
    let gateway = builders(&settings).await.remove(0).start().await;
    play(&devnet, 1).await;
    let is_told = || async { service(&gateway, "rpc").await.to_string().contains("two events at one place") };
    TestGateway::eventually(LIMIT, "the lie is told of", is_told).await;
    assert!(!derived(&gateway).await.contains("JobRequested"));
    devnet.honest().await.unwrap();
    indexed(&gateway, &devnet).await;
    assert_as_anew(&gateway, &settings, &devnet, "events told twice").await;
    close(gateway).await;
}

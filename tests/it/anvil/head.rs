//! Backfill and newest block of a real chain, by HTTP and by WebSocket.

use super::{LIMIT, assert_as_anew, builders, close, derived, indexed, play, service, settings};
use gateway_config::ChainConfig;
use gateway_tests::devnet::Devnet;
use plugin_testing::{TestGateway, json};

/// A poll interval longer than any test: a block that is seen meanwhile was announced by the WebSocket.
const NEVER_MS: u64 = 600_000;

#[tokio::test]
async fn past_and_head_are_indexed_by_polling() {
    let devnet = Devnet::start_with(&["--agents", "10"]).await.unwrap();
    let settings = settings(&devnet);
    for builder in builders(&settings).await {
        let gateway = builder.start().await;
        indexed(&gateway, &devnet).await;
        let agents = gateway.rows("SELECT count(*) FROM mirror_agents").await;
        assert_eq!(agents, ["Int(10)"], "the play before the gateway came");
        devnet.mine(100).await.unwrap();
        indexed(&gateway, &devnet).await;
        let chain = service(&gateway, "chain").await;
        assert_eq!(chain["ok"], true, "{chain}");
        let indexer = service(&gateway, "indexer").await;
        assert_eq!((&indexer["ok"], &indexer["lagBlocks"]), (&json!(true), &json!(0)), "{indexer}");
        assert_as_anew(&gateway, &settings, &devnet, "ten agents").await;
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_new_block_is_announced_by_websocket_also_after_it_went_away() {
    let devnet = Devnet::start().await.unwrap();
    let ws = Some(devnet.facts.ws_url.as_str().into());
    let settings = ChainConfig { ws, poll_ms: NEVER_MS, ..settings(&devnet) };
    let gateway = builders(&settings).await.remove(0).start().await;
    indexed(&gateway, &devnet).await;
    play(&devnet, 1).await;
    indexed(&gateway, &devnet).await;
    devnet.control(json!({ "webSocket": "refuse" })).await.unwrap();
    play(&devnet, 2).await;
    devnet.honest().await.unwrap();
    // The gateway reconnects by itself, and requests at once what it has missed.
    indexed(&gateway, &devnet).await;
    play(&devnet, 3).await;
    indexed(&gateway, &devnet).await;
    assert_as_anew(&gateway, &settings, &devnet, "three plays").await;
    close(gateway).await;
}

#[tokio::test]
async fn without_the_websocket_blocks_are_asked_for() {
    let devnet = Devnet::start().await.unwrap();
    devnet.control(json!({ "webSocket": "refuse" })).await.unwrap();
    let ws = Some(devnet.facts.ws_url.as_str().into());
    let settings = ChainConfig { ws, ..settings(&devnet) };
    let gateway = builders(&settings).await.remove(0).start().await;
    play(&devnet, 1).await;
    indexed(&gateway, &devnet).await;
    assert!(derived(&gateway).await.contains("JobCompleted"));
    close(gateway).await;
}

#[tokio::test]
async fn a_gateway_that_was_off_during_a_reorganisation_undoes_it() {
    let devnet = Devnet::start().await.unwrap();
    devnet.mine(70).await.unwrap();
    // Public events are final, so no event of a block that is removed here may be public.
    let settings = ChainConfig { confirmations: 64, ..settings(&devnet) };
    for builder in builders(&settings).await {
        let gateway = builder.start().await;
        play(&devnet, 1).await;
        indexed(&gateway, &devnet).await;
        let before = derived(&gateway).await;
        let gateway = gateway.restart_after(|_| {}).await;
        indexed(&gateway, &devnet).await;
        assert_eq!(derived(&gateway).await, before);
        // Four blocks of the same height without transactions, then more.
        devnet.call("anvil_reorg", json!([4, []])).await.unwrap();
        devnet.mine(1).await.unwrap();
        let gateway = gateway.restart().await;
        indexed(&gateway, &devnet).await;
        assert!(!derived(&gateway).await.contains("JobRequested"));
        assert_as_anew(&gateway, &settings, &devnet, "a play that was taken back").await;
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_reorganisation_without_a_longer_branch_is_noticed() {
    let devnet = Devnet::start().await.unwrap();
    devnet.mine(70).await.unwrap();
    let settings = ChainConfig { confirmations: 64, ..settings(&devnet) };
    let gateway = builders(&settings).await.remove(0).start().await;
    play(&devnet, 1).await;
    indexed(&gateway, &devnet).await;
    devnet.call("anvil_reorg", json!([3, []])).await.unwrap();
    indexed(&gateway, &devnet).await;
    assert!(derived(&gateway).await.contains("AgentRegistered") && !derived(&gateway).await.contains("JobRequested"));
    // The head goes back and stays there for now.
    devnet.call("anvil_rollback", json!([3])).await.unwrap();
    TestGateway::eventually(LIMIT, "the index is where the chain is", || async {
        super::report(&gateway).lag_blocks == Some(0) && super::report(&gateway).reason.is_none()
    })
    .await;
    assert_as_anew(&gateway, &settings, &devnet, "a play that was taken back").await;
    close(gateway).await;
}

//! Servers that fail, lag and lie.

use super::{assert_as_anew, builders, close, moved, opened, rules::fails, started, with_second_server};
use plugin_testing::{Fault, ScriptedChain, TestGateway, json};
use rstest::rstest;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A chain of 101 blocks, a second RPC server of it, and a gateway that has indexed all blocks.
async fn indexed_by_two() -> (ScriptedChain, ScriptedChain, TestGateway) {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    chain.mine_empty(100);
    let other = chain.another_server().await;
    let gateway = gateway_with_two_servers(&chain, &other).await;
    gateway.indexed(&chain).await;
    (chain, other, gateway)
}

/// A gateway on SQLite with both RPC servers, the first one preferred.
async fn gateway_with_two_servers(first: &ScriptedChain, second: &ScriptedChain) -> TestGateway {
    with_second_server(builders(first).await.remove(0), second).start().await
}

#[rstest]
#[case(Fault::Status(503))]
#[case(Fault::Status(429))]
#[case(Fault::Garbage)]
#[case(Fault::Silence)]
#[case(Fault::DropsAnswer)]
#[case(Fault::LogsOfWrongType)]
#[case(Fault::LiesAhead(1000))]
#[case(Fault::OtherChain(1))]
#[tokio::test]
async fn the_other_server_is_asked_when_one_goes_bad(#[case] fault: Fault) {
    let (chain, other, gateway) = indexed_by_two().await;
    chain.fail_always(Some(fault));
    chain.mine(vec![moved(1, "5")]);
    chain.mine_empty(20);
    gateway.indexed(&chain).await;
    assert_eq!(gateway.rows("SELECT balance FROM ledger_accounts").await, ["Text(\"5\")"]);
    let asked_before = other.requests();
    chain.mine_empty(1);
    gateway.indexed(&chain).await;
    assert!(other.requests() > asked_before);
    let status = gateway.get("/api/status").await.json();
    assert_eq!(status["services"]["rpc"]["ok"], true, "one of two is enough: {status}");
    assert!(!status["services"]["rpc"]["detail"].as_str().unwrap_or_default().is_empty(), "{status}");
    close(gateway).await;
}

/// The server reports its newest block all the time, as the other one does.
#[tokio::test]
async fn a_server_that_answers_no_question_for_events_is_not_asked_first_for_long() {
    let (chain, other, gateway) = indexed_by_two().await;
    chain.fail_always(Some(Fault::LogsOfWrongType));
    let rpc = async || gateway.get("/api/status").await.json()["services"]["rpc"].clone();
    TestGateway::eventually(MINUTE, "the other is asked first", async || {
        chain.mine(vec![moved(1, "1")]);
        gateway.indexed(&chain).await;
        rpc().await["url"] == json!(other.url().trim_end_matches('/'))
    })
    .await;
    let rpc = rpc().await;
    assert_eq!(rpc["ok"], true, "one of two is enough: {rpc}");
    let detail = rpc["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("of another type than was asked for"), "{rpc}");
    assert_as_anew(&gateway, &other).await;
    close(gateway).await;
}

#[tokio::test]
async fn a_server_that_falls_behind_is_not_preferred_and_misses_no_event() {
    let (chain, _other, gateway) = indexed_by_two().await;
    chain.set_lag(10);
    for _ in 0..30 {
        chain.mine(vec![moved(1, "1")]);
    }
    gateway.indexed(&chain).await;
    assert_eq!(gateway.rows("SELECT balance, moves FROM ledger_accounts").await, ["Text(\"30\") Int(30)"]);
    close(gateway).await;
}

#[tokio::test]
async fn while_no_server_answers_status_says_so_and_the_index_goes_on_later() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.fail_always(Some(Fault::Status(502)));
        chain.mine(vec![moved(1, "9")]);
        TestGateway::eventually(MINUTE, "health says so", || async {
            gateway.get("/api/health").await.json()["head"] == json!(-1)
        })
        .await;
        assert!(fails(&gateway).await.contains("HTTP status 502"));
        let health = gateway.get("/api/health").await.json();
        assert_eq!((&health["ok"], &health["indexedBlock"]), (&json!(true), &json!(1)), "{health}");
        let status = gateway.get("/api/status").await.json();
        let degraded: Vec<_> = status["degraded"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
        assert!(degraded.contains(&"rpc") && degraded.contains(&"indexer") && !degraded.contains(&"db"), "{status}");
        assert_eq!(status["head"], json!(null));
        chain.fail_always(None);
        gateway.indexed(&chain).await;
        assert_eq!(gateway.rows("SELECT balance FROM ledger_accounts").await, ["Text(\"9\")"]);
        chain.reorg(1);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_server_of_another_branch_alone_does_not_stop_the_index() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    chain.mine_empty(100);
    let stranger = ScriptedChain::start().await;
    stranger.mine_empty(130);
    let gateway = gateway_with_two_servers(&chain, &stranger).await;
    TestGateway::eventually(MINUTE, "some block is indexed", || async {
        gateway.gateway().indexes.indexed_block().is_some()
    })
    .await;
    assert!(
        gateway.gateway().indexes.reports()[0].state != gateway_indexer::IndexState::Stopped,
        "two servers that disagree are no proof"
    );
    gateway.stop().await;
}

#[tokio::test]
async fn the_address_of_a_server_is_nowhere_to_be_read() {
    let chain = ScriptedChain::start().await;
    chain.fail_always(Some(Fault::Status(500)));
    let gateway = builders(&chain).await.remove(0).configure(|config| {
        let main = config.chains.get_mut("main").unwrap();
        main.rpc = vec![format!("{}/v2/hunter2?key=hunter2", chain.url()).into()];
    });
    let gateway = gateway.start().await;
    let reason = fails(&gateway).await;
    let status = gateway.get("/api/status").await.text().to_owned();
    assert!(!reason.contains("hunter2") && !status.contains("hunter2"), "{reason} {status}");
    assert!(status.contains("http://127.0.0.1:"), "{status}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_back_fill_through_faults_is_the_same_as_without() {
    let chain = ScriptedChain::start().await;
    chain.mine((0..5).map(opened).collect());
    (0..200u64).for_each(|block| {
        chain.mine(vec![moved(block % 5, "3")]);
    });
    for builder in builders(&chain).await {
        let gateway = builder.configure(|config| {
            let main = config.chains.get_mut("main").unwrap();
            (main.range_blocks_max, main.timeout_ms) = (20, 200);
        });
        for fault in [Fault::Garbage, Fault::Status(500), Fault::DropsAnswer, Fault::RangeMax(3), Fault::Silence] {
            chain.fail_next(3, fault);
        }
        let gateway = gateway.start().await;
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        close(gateway).await;
    }
}

/// Behind a load balancer another server would answer the second of them.
#[tokio::test]
async fn events_and_the_block_that_vouches_for_them_stay_in_one_request_when_an_answer_is_of_a_wrong_type() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for _ in 0..200 {
        chain.mine(vec![moved(1, "1")]);
    }
    for builder in builders(&chain).await {
        chain.fail_always(Some(Fault::LogsOfWrongType));
        let gateway = builder.start().await;
        let reason = fails(&gateway).await;
        assert!(reason.contains("of another type than was asked for"), "{reason}");
        chain.fail_always(None);
        gateway.indexed(&chain).await;
        assert_eq!(gateway.rows("SELECT balance, moves FROM ledger_accounts").await, ["Text(\"200\") Int(200)"]);
        assert_eq!(chain.unbatched_log_requests(), 0);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_signer_that_seals_no_blocks_is_told() {
    let chain = ScriptedChain::start().await;
    let [busy, silent] = [1, 2].map(|number| plugin_testing::Wallet::new(number).address().to_owned());
    chain.set_clique_status(
        json!({ "inturnPercent": 50.04, "numBlocks": 64, "sealerActivity": { &busy: 64, &silent: 0 } }),
    );
    let gateway = builders(&chain).await.remove(0).start().await;
    let service = async || gateway.get("/api/status").await.json()["services"]["chain"].clone();
    TestGateway::eventually(MINUTE, "the signers are known", async || !service().await["signers"].is_null()).await;
    let service = service().await;
    assert_eq!(
        service["signers"],
        json!({ "total": 2, "active": 1, "silent": [silent], "window": 64, "inturnPercent": 50.0 })
    );
    assert_eq!(
        (&service["ok"], &service["detail"]),
        (&json!(false), &json!(format!("these signers seal no blocks: {silent}")))
    );
    gateway.stop().await;
}

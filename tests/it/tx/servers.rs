//! RPC servers that fail, lag and contradict each other.

use super::{DEPTH, MINUTE, assert_paid_once, becomes, builders, pay, payment, says, status, waits};
use crate::chain::with_second_server;
use plugin_api::TxState;
use plugin_testing::{Fault, ScriptedChain, TestGateway};
use rstest::rstest;

async fn gateway_with_two_servers(first: &ScriptedChain, second: &ScriptedChain) -> TestGateway {
    with_second_server(builders(first).await.remove(0), second).start().await
}

#[rstest]
#[case(Fault::Status(503))]
#[case(Fault::Garbage)]
#[case(Fault::Silence)]
#[case(Fault::SilentSuccess)]
#[case(Fault::OtherChain(1))]
#[tokio::test]
async fn a_payment_goes_on_when_one_of_two_goes_bad(#[case] fault: Fault) {
    let chain = ScriptedChain::start().await;
    let other = chain.another_server().await;
    let gateway = gateway_with_two_servers(&chain, &other).await;
    pay(&gateway, payment(1)).await;
    waits(&chain, 1).await;
    chain.fail_always(Some(fault));
    chain.mine(Vec::new());
    pay(&gateway, payment(2)).await;
    waits(&chain, 1).await;
    chain.mine_empty(DEPTH + 1);
    becomes(&gateway, "1", TxState::Final).await;
    becomes(&gateway, "2", TxState::Final).await;
    assert_paid_once(&chain, [1, 2]);
    gateway.stop().await;
}

/// What came of it is final when all servers that answer say the same.
#[tokio::test]
async fn one_that_is_behind_holds_up_the_end() {
    let chain = ScriptedChain::start().await;
    let other = chain.another_server().await;
    let gateway = gateway_with_two_servers(&chain, &other).await;
    pay(&gateway, payment(1)).await;
    waits(&chain, 1).await;
    other.set_lag(DEPTH + 2);
    chain.mine_empty(DEPTH + 1);
    says(&gateway, "1", "do not agree").await;
    assert_eq!(status(&gateway, "1").await.state, TxState::Included);
    other.set_lag(0);
    becomes(&gateway, "1", TxState::Final).await;
    gateway.stop().await;
}

#[tokio::test]
async fn when_no_server_answers_the_journal_waits_and_heals() {
    let chain = ScriptedChain::start().await;
    let gateway = builders(&chain).await.remove(0).configure(|config| {
        config.chains.get_mut("main").unwrap().timeout_ms = 100;
    });
    let gateway = gateway.start().await;
    chain.fail_always(Some(Fault::Silence));
    assert!(pay(&gateway, payment(1)).await.is_number(), "recording needs no server");
    TestGateway::eventually(MINUTE, "the status says so", async || {
        let service = gateway.get("/api/status").await.json()["services"]["tx"].clone();
        gateway.clock().advance(std::time::Duration::from_secs(6)).await;
        service["ok"] == false && service["detail"].as_str().is_some_and(|detail| detail.contains("no RPC server"))
    })
    .await;
    chain.fail_always(None);
    waits(&chain, 1).await;
    chain.mine_empty(DEPTH + 1);
    becomes(&gateway, "1", TxState::Final).await;
    assert_paid_once(&chain, [1]);
    gateway.stop().await;
}

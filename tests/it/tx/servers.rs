//! RPC servers that fail, lag and contradict each other.

use super::{
    DEPTH, MINUTE, assert_paid_once, becomes, builders, each, ends_paid_once, pay, pay_in_vain, payment, relayer, says,
    status, until, waits,
};
use crate::chain::with_second_server;
use plugin_api::chain::TxState;
use plugin_testing::{Fault, ScriptedChain, TestGateway};
use rstest::rstest;

/// Gateways with two servers, one on each database, each with a chain of its own.
async fn each_with_two(test: impl AsyncFn(&ScriptedChain, &ScriptedChain, &TestGateway)) {
    let count = builders(&ScriptedChain::start().await).await.len();
    for place in 0..count {
        let chain = ScriptedChain::start().await;
        let other = chain.another_server().await;
        let gateway = with_second_server(builders(&chain).await.remove(place), &other).start().await;
        test(&chain, &other, &gateway).await;
        gateway.stop().await;
    }
}

/// Waits until the status tells that the server fails.
async fn is_reported(gateway: &TestGateway, url: &str) {
    TestGateway::eventually(MINUTE, "the server's fault is reported", async || {
        let rpc = gateway.get("/api/status").await.json()["services"]["rpc"].clone();
        rpc["detail"].as_str().is_some_and(|detail| detail.contains(url))
    })
    .await;
}

/// Transactions are sent and included with the word of one server; only two that agree make them final.
#[rstest]
#[case(Fault::Status(503))]
#[case(Fault::Garbage)]
#[case(Fault::Silence)]
#[case(Fault::SilentSuccess)]
#[case(Fault::OtherChain(1))]
#[tokio::test]
async fn a_payment_is_not_final_while_one_of_two_goes_bad(#[case] fault: Fault) {
    each_with_two(async |chain, _, gateway| {
        pay(gateway, payment(1)).await;
        waits(chain, 1).await;
        chain.fail_always(Some(fault));
        is_reported(gateway, &chain.url()).await;
        chain.mine(Vec::new());
        pay(gateway, payment(2)).await;
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        for key in ["1", "2"] {
            says(gateway, key, "too few RPC servers answer").await;
            assert_eq!(status(gateway, key).await.state, TxState::Included);
        }
        chain.fail_always(None);
        becomes(gateway, "1", TxState::Final).await;
        becomes(gateway, "2", TxState::Final).await;
        assert_paid_once(chain, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn one_that_is_behind_holds_up_the_end() {
    each_with_two(async |chain, other, gateway| {
        pay(gateway, payment(1)).await;
        waits(chain, 1).await;
        other.set_lag(DEPTH + 2);
        chain.mine_empty(DEPTH + 1);
        says(gateway, "1", "do not agree").await;
        assert_eq!(status(gateway, "1").await.state, TxState::Included);
        other.set_lag(0);
        becomes(gateway, "1", TxState::Final).await;
    })
    .await;
}

/// One server alone tells that another transaction used the nonce: a second payment would be signed on its word.
#[tokio::test]
async fn a_used_nonce_counts_only_when_two_agree() {
    each_with_two(async |chain, other, gateway| {
        pay_in_vain(chain, gateway, 7).await;
        other.fail_always(Some(Fault::Status(503)));
        is_reported(gateway, &other.url()).await;
        chain.send_foreign(relayer(), 0);
        chain.mine_empty(DEPTH + 1);
        says(gateway, "7", "too few RPC servers answer for an agreement on which transaction used its nonce").await;
        assert_eq!(status(gateway, "7").await.hashes.len(), 1, "nothing else is signed");
        other.fail_always(None);
        until(async || status(gateway, "7").await.nonce == Some(1)).await;
        ends_paid_once(chain, gateway, 7).await;
    })
    .await;
}

/// A server answers with the receipt of a transaction that is not the one it was asked for.
#[tokio::test]
async fn the_receipt_of_another_transaction_is_none_of_ours() {
    each(async |chain, gateway| {
        pay_in_vain(chain, gateway, 7).await;
        chain.send_foreign(relayer(), 0);
        chain.fail_always(Some(Fault::OtherReceipts));
        chain.mine_empty(DEPTH + 1);
        TestGateway::eventually(MINUTE, "the status tells the fault", async || {
            let rpc = gateway.get("/api/status").await.json()["services"]["rpc"].clone();
            rpc["detail"].as_str().is_some_and(|detail| detail.contains("answers with the receipt of"))
        })
        .await;
        chain.fail_always(None);
        ends_paid_once(chain, gateway, 7).await;
    })
    .await;
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
    ends_paid_once(&chain, &gateway, 1).await;
    gateway.stop().await;
}

//! Transactions that every server rejects for good: a server may have one all the same, so a receipt decides.

use super::{
    DEPTH, assert_paid_once, becomes, builders, each, pay, payment, relayer, says, status, steps::runs_into, until,
    waits,
};
use crate::chain::with_second_server;
use plugin_api::{Wei, chain::TxState};
use plugin_testing::{Fault, ScriptedChain, ScriptedTx, TestGateway};
use std::time::Duration;

const REFUSED: &str = "intrinsic gas too low";
/// Longer than three times `replace_ms`, the longest wait of a nonce queue.
const LONG: Duration = Duration::from_secs(61);

/// Whether it is what the payment under test intends.
pub fn is_first(tx: &ScriptedTx) -> bool {
    tx.to == payment(1).to
}

/// Advances the clock until the empty transfer is pending, and returns it.
async fn cancellation(chain: &ScriptedChain, gateway: &TestGateway) -> ScriptedTx {
    let empty_transfer = || chain.waiting().into_iter().find(|tx| tx.to == relayer());
    until(async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        empty_transfer().is_some()
    })
    .await;
    empty_transfer().unwrap()
}

#[tokio::test]
async fn it_fails_with_the_reason_and_its_key_stays_used() {
    each(async |chain, gateway| {
        chain.refuse_transactions(REFUSED, is_first);
        let id = pay(gateway, payment(1)).await;
        says(gateway, "1", "every RPC server refuses it: intrinsic gas too low").await;
        let transfer = cancellation(chain, gateway).await;
        assert_eq!((transfer.nonce, transfer.value, transfer.data.len(), transfer.gas), (0, Wei::ZERO, 0, 21_000));
        let waiting = becomes(gateway, "1", TxState::Sent).await;
        assert!(waiting.reason.is_some_and(|reason| reason.contains("an empty transfer takes its nonce 0")));
        chain.mine(Vec::new());
        let included = becomes(gateway, "1", TxState::Included).await;
        assert_eq!((included.succeeded, included.hash.map(|hash| hash.0)), (Some(false), Some(transfer.hash)));
        chain.mine_empty(DEPTH);
        let failed = becomes(gateway, "1", TxState::Failed).await;
        assert!(failed.reason.is_some_and(|reason| reason.contains(REFUSED)));
        assert_eq!((failed.nonce, failed.hashes.len(), failed.succeeded), (Some(0), 2, Some(false)));
        // Recording it again returns the same intent, which is not sent again, although the server would accept it now.
        chain.accept_transactions();
        assert_eq!(pay(gateway, payment(1)).await, id);
        pay(gateway, payment(2)).await;
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "2", TxState::Final).await;
        assert_paid_once(chain, [2]);
    })
    .await;
}

#[tokio::test]
async fn one_that_somebody_held_all_the_same_is_done_and_not_failed() {
    each(async |chain, gateway| {
        pay(gateway, payment(1)).await;
        let intended = waits(chain, 1).await.remove(0);
        chain.lose(false);
        chain.refuse_transactions(REFUSED, is_first);
        cancellation(chain, gateway).await;
        // The producer of the next block has the first transaction and not the second.
        chain.lose(false);
        chain.push_pending(intended.clone());
        chain.mine(Vec::new());
        let included = becomes(gateway, "1", TxState::Included).await;
        assert_eq!((included.succeeded, included.hash.map(|hash| hash.0)), (Some(true), Some(intended.hash)));
        chain.mine_empty(DEPTH);
        assert_eq!(becomes(gateway, "1", TxState::Final).await.reason, None);
        assert_paid_once(chain, [1]);
    })
    .await;
}

#[tokio::test]
async fn a_reorganisation_may_turn_what_happened_around() {
    each(async |chain, gateway| {
        pay(gateway, payment(1)).await;
        let intended = waits(chain, 1).await.remove(0);
        chain.lose(false);
        chain.refuse_transactions(REFUSED, is_first);
        let transfer = cancellation(chain, gateway).await;
        chain.mine_empty(DEPTH);
        assert_eq!(becomes(gateway, "1", TxState::Included).await.succeeded, Some(false));
        for (kept, succeeded) in [(&intended, true), (&transfer, false), (&intended, true)] {
            chain.reorg(DEPTH);
            chain.lose(false);
            chain.push_pending(kept.clone());
            chain.mine_empty(DEPTH);
            until(async || status(gateway, "1").await.succeeded == Some(succeeded)).await;
        }
        chain.mine_empty(1);
        becomes(gateway, "1", TxState::Final).await;
        assert_paid_once(chain, [1]);
    })
    .await;
}

#[tokio::test]
async fn what_another_time_may_mend_is_not_cancelled() {
    each(async |chain, gateway| {
        chain.refuse_transactions("txpool is full", is_first);
        pay(gateway, payment(1)).await;
        says(gateway, "1", "txpool is full").await;
        for _ in 0..3 {
            gateway.clock().advance(LONG).await;
            chain.mine(Vec::new());
            let asked = chain.requests();
            until(async || chain.requests() > asked + 8).await;
        }
        chain.accept_transactions();
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "1", TxState::Final).await;
        assert_paid_once(chain, [1]);
        assert!(chain.mined().iter().all(|tx| tx.to != relayer()), "{:#?}", chain.mined());
    })
    .await;
}

#[tokio::test]
async fn one_server_that_takes_it_is_enough() {
    let chain = ScriptedChain::start().await;
    let other = chain.another_server().await;
    let gateway = with_second_server(builders(&chain).await.remove(0), &other).start().await;
    chain.refuse_transactions(REFUSED, is_first);
    chain.hold(true);
    pay(&gateway, payment(1)).await;
    for _ in 0..3 {
        gateway.clock().advance(LONG).await;
        let asked = chain.requests();
        until(async || chain.requests() > asked + 8).await;
    }
    assert!(waits(&chain, 1).await.iter().all(is_first), "{:#?}", chain.waiting());
    chain.hold(false);
    chain.mine_empty(DEPTH + 1);
    becomes(&gateway, "1", TxState::Final).await;
    assert_paid_once(&chain, [1]);
    gateway.stop().await;
}

/// Pools hold the first transaction, and the server rejects those with a higher fee, for example because of a cap.
#[tokio::test]
async fn one_whose_first_offer_is_still_held_is_not_cancelled() {
    each(async |chain, gateway| {
        chain.hold(true);
        pay(gateway, payment(1)).await;
        let first = waits(chain, 1).await.remove(0);
        chain.refuse_transactions("tx fee exceeds the configured cap", move |tx| tx.hash != first.hash);
        chain.mine_empty(2);
        until(async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            status(gateway, "1").await.hashes.len() > 1
        })
        .await;
        for _ in 0..4 {
            gateway.clock().advance(LONG).await;
            let asked = chain.requests();
            until(async || chain.requests() > asked + 8).await;
        }
        assert_eq!(waits(chain, 1).await[0].hash, first.hash);
        chain.hold(false);
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "1", TxState::Final).await;
        assert_paid_once(chain, [1]);
    })
    .await;
}

/// Stops the gateway at every request to the chain while it cancels an intent: at the end the journal equals the chain.
#[tokio::test]
async fn an_end_at_any_question_changes_nothing() {
    for place in 0..builders(&ScriptedChain::start().await).await.len() {
        for fault in [Fault::Silence, Fault::SilentSuccess] {
            let chain = ScriptedChain::start().await;
            let builder = builders(&chain).await.remove(place).configure(|config| {
                config.chains.get_mut("main").unwrap().timeout_ms = 60_000;
            });
            let mut gateway = builder.start().await;
            chain.refuse_transactions(REFUSED, is_first);
            pay(&gateway, payment(1)).await;
            pay(&gateway, payment(2)).await;
            for step in 0..10 {
                runs_into(&chain, step, fault).await;
                gateway = gateway.restart_after(|_| chain.fail_always(None)).await;
                gateway.clock().advance(Duration::from_secs(4)).await;
            }
            until(async || {
                chain.mine(Vec::new());
                gateway.clock().advance(Duration::from_secs(3)).await;
                chain.waiting().is_empty() && chain.mined().len() >= 2
            })
            .await;
            chain.mine_empty(DEPTH + 1);
            becomes(&gateway, "1", TxState::Failed).await;
            becomes(&gateway, "2", TxState::Final).await;
            assert_paid_once(&chain, [2]);
            gateway.stop().await;
        }
    }
}

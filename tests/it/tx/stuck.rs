//! A stuck nonce queue continues within a minute of the gateway's clock, with the default settings and a block every
//! seven seconds.

use super::{DEPTH, assert_paid_once, becomes, cancel::is_first, each, pay, payment, relayer, status, waits};
use plugin_api::chain::TxState;
use plugin_testing::{ScriptedChain, TestGateway};
use std::time::Duration;

const LIMIT_S: u64 = 60;
const BLOCK_S: u64 = 7;
/// Requests after which the journal has noticed a change: every pass requests the account.
const TURN: u64 = 8;

/// Seconds until all of these payments are in a block.
async fn seconds_until_included(chain: &ScriptedChain, gateway: &TestGateway, payments: &[&str]) -> u64 {
    for second in 1..=LIMIT_S {
        gateway.clock().advance(Duration::from_secs(1)).await;
        if second % BLOCK_S == 0 {
            chain.mine_empty(1);
        }
        let asked = chain.requests();
        super::until(async || chain.requests() >= asked + TURN).await;
        let mut included = 0;
        for payment in payments {
            included += usize::from(status(gateway, payment).await.state == TxState::Included);
        }
        if included == payments.len() {
            return second;
        }
    }
    panic!("stuck for {LIMIT_S} s: {:#?}", status(gateway, payments[0]).await);
}

#[tokio::test]
async fn one_that_every_pool_lost_recovers() {
    each(async |chain, gateway| {
        chain.lose(true);
        pay(gateway, payment(1)).await;
        becomes(gateway, "1", TxState::Sent).await;
        chain.lose(false);
        seconds_until_included(chain, gateway, &["1"]).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "1", TxState::Final).await;
        assert_paid_once(chain, [1]);
    })
    .await;
}

#[tokio::test]
async fn one_that_pays_too_little_for_the_blocks_recovers_with_those_behind_it() {
    each(async |chain, gateway| {
        chain.set_block_tip_min(2_000_000_000);
        for number in 1..=3 {
            pay(gateway, payment(number)).await;
        }
        assert_eq!(waits(chain, 3).await[0].tip, 1_000_000_000);
        let first = seconds_until_included(chain, gateway, &["1"]).await;
        assert!(first > BLOCK_S, "the block that came before the higher fee passed it by");
        chain.set_block_tip_min(0);
        seconds_until_included(chain, gateway, &["2", "3"]).await;
        chain.mine_empty(DEPTH + 1);
        for number in 1..=3 {
            becomes(gateway, &number.to_string(), TxState::Final).await;
        }
        assert_paid_once(chain, 1..=3);
    })
    .await;
}

#[tokio::test]
async fn one_behind_a_nonce_that_nobody_has_recovers() {
    each(async |chain, gateway| {
        chain.hold(true);
        chain.send_foreign(relayer(), 0);
        pay(gateway, payment(1)).await;
        waits(chain, 2).await;
        // Both are lost, and the foreign one never comes back.
        chain.lose(false);
        chain.hold(false);
        seconds_until_included(chain, gateway, &["1"]).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "1", TxState::Final).await;
        assert_paid_once(chain, [1]);
    })
    .await;
}

#[tokio::test]
async fn one_that_every_server_refuses_for_good_leaves_the_queue_to_those_behind_it() {
    each(async |chain, gateway| {
        chain.refuse_transactions("invalid sender", is_first);
        for number in 1..=3 {
            pay(gateway, payment(number)).await;
        }
        seconds_until_included(chain, gateway, &["1", "2", "3"]).await;
        assert_eq!(status(gateway, "1").await.succeeded, Some(false), "what is in the block is not what was intended");
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "1", TxState::Failed).await;
        becomes(gateway, "2", TxState::Final).await;
        becomes(gateway, "3", TxState::Final).await;
        assert_paid_once(chain, [2, 3]);
    })
    .await;
}

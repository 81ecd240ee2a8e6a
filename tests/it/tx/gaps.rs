//! Another program uses the key: nonces that it took, and nonces that no transaction has.

use super::{
    DEPTH, assert_paid_once, becomes, each, ends_paid_once, pay, pay_in_vain, payment, relayer, says, status, until,
    waits,
};
use plugin_api::chain::TxState;
use std::time::Duration;

#[tokio::test]
async fn a_nonce_that_somebody_else_used_is_replaced_when_that_is_final() {
    each(async |chain, gateway| {
        let before = pay_in_vain(chain, gateway, 7).await;
        chain.send_foreign(relayer(), 0);
        chain.mine(Vec::new());
        says(gateway, "7", "another transaction used its nonce 0").await;
        chain.mine_empty(DEPTH - 1);
        assert_eq!(status(gateway, "7").await.nonce, Some(0), "the other one may still be taken back");
        chain.mine(Vec::new());
        until(async || status(gateway, "7").await.nonce == Some(1)).await;
        let after = status(gateway, "7").await;
        assert_eq!(after.hashes.len(), 2);
        assert_eq!(after.hashes[0], before.hashes[0], "the old one is remembered");
        ends_paid_once(chain, gateway, 7).await;
    })
    .await;
}

#[tokio::test]
async fn a_nonce_that_comes_back_is_used_again_by_its_owner() {
    each(async |chain, gateway| {
        pay_in_vain(chain, gateway, 7).await;
        chain.send_foreign(relayer(), 0);
        chain.mine_empty(DEPTH - 1);
        says(gateway, "7", "another transaction used its nonce 0").await;
        // A reorganisation removes the foreign transaction, and no pool has it any more.
        chain.reorg(DEPTH - 1);
        chain.lose(false);
        chain.mine_empty(DEPTH);
        gateway.clock().advance(Duration::from_secs(9)).await;
        assert_eq!(waits(chain, 1).await[0].nonce, 0);
        assert_eq!(ends_paid_once(chain, gateway, 7).await.hashes.len(), 1);
    })
    .await;
}

/// The proof is a transaction, never the silence of a server.
#[tokio::test]
async fn without_a_receipt_nothing_is_sent_anew() {
    each(async |chain, gateway| {
        chain.hide_receipts(true);
        pay(gateway, payment(7)).await;
        waits(chain, 1).await;
        chain.mine_empty(3 * DEPTH);
        says(gateway, "7", "it is in block 1, and no RPC server tells what came of it").await;
        assert_eq!(status(gateway, "7").await.hashes.len(), 1);
        chain.hide_receipts(false);
        becomes(gateway, "7", TxState::Final).await;
        assert_paid_once(chain, [7]);
    })
    .await;
}

#[tokio::test]
async fn a_transaction_of_somebody_else_in_the_pool_keeps_its_nonce() {
    each(async |chain, gateway| {
        chain.hold(true);
        chain.send_foreign(relayer(), 0);
        pay(gateway, payment(7)).await;
        let waiting = waits(chain, 2).await;
        assert_eq!(waiting.iter().map(|tx| tx.nonce).max(), Some(1));
        chain.hold(false);
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "7", TxState::Final).await;
        assert_paid_once(chain, [7]);
    })
    .await;
}

#[tokio::test]
async fn a_nonce_that_nobody_has_is_filled_and_the_lane_goes_on() {
    each(async |chain, gateway| {
        chain.hold(true);
        chain.send_foreign(relayer(), 0);
        for number in 1..=3 {
            pay(gateway, payment(number)).await;
        }
        waits(chain, 4).await;
        // All transactions are lost, and the foreign one never comes back.
        chain.lose(false);
        chain.hold(false);
        chain.mine_empty(2);
        // The gap is noticed first, then the wait is over.
        until(async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            chain.waiting().len() == 4
        })
        .await;
        chain.mine_empty(DEPTH + 2);
        for number in 1..=3 {
            becomes(gateway, &number.to_string(), TxState::Final).await;
        }
        assert_paid_once(chain, 1..=3);
        let own = gateway.rows("SELECT plugin, state FROM host_tx_intents WHERE plugin = 'host'").await;
        assert_eq!(own, ["Text(\"host\") Text(\"final\")"]);
    })
    .await;
}

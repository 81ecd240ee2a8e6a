//! Another program uses the key: nonces that it took, and nonces that no transaction has.

use super::{
    DEPTH, MINUTE, RELAYER, assert_paid_once, becomes, each, ends_paid_once, pay, pay_in_vain, payment, relayer, says,
    status, until, waits,
};
use plugin_api::chain::TxState;
use plugin_testing::{ScriptedChain, TestGateway, Wallet};
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

/// Three payments behind a nonce of somebody else, whose transaction every pool has lost with theirs.
async fn open_gap(chain: &ScriptedChain, gateway: &TestGateway) {
    chain.hold(true);
    chain.send_foreign(relayer(), 0);
    for number in 1..=3 {
        pay(gateway, payment(number)).await;
    }
    waits(chain, 4).await;
    chain.lose(false);
    chain.hold(false);
}

/// Waits for a transfer with nonce 0 before those of the payments, and mines them all.
async fn gap_is_filled(chain: &ScriptedChain, gateway: &TestGateway) {
    // The gap is noticed first, then the wait is over.
    until(async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        chain.waiting().len() == 4
    })
    .await;
    let mut nonces: Vec<u64> = chain.waiting().iter().map(|tx| tx.nonce).collect();
    nonces.sort_unstable();
    assert_eq!(nonces, [0, 1, 2, 3]);
    chain.mine_empty(DEPTH + 2);
    for number in 1..=3 {
        becomes(gateway, &number.to_string(), TxState::Final).await;
    }
    assert_paid_once(chain, 1..=3);
    assert_eq!(fillers(gateway).await, ["Text(\"final\") Int(0)"]);
}

async fn fillers(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT state, nonce FROM host_tx_intents WHERE plugin = 'host'").await
}

#[tokio::test]
async fn a_nonce_that_nobody_has_is_filled_and_the_queue_goes_on() {
    each(async |chain, gateway| {
        open_gap(chain, gateway).await;
        chain.mine_empty(2);
        gap_is_filled(chain, gateway).await;
    })
    .await;
}

#[tokio::test]
async fn a_gap_that_costs_too_much_to_fill_leaves_nothing_behind_until_it_is_filled() {
    each(async |chain, gateway| {
        open_gap(chain, gateway).await;
        // More than `tx.max_fee_gwei` allows.
        chain.mine_fees(21_000, 60_000_000_000);
        for _ in 0..90 {
            gateway.clock().advance(Duration::from_secs(1)).await;
            let asked = chain.requests();
            until(async || chain.requests() > asked).await;
        }
        assert_eq!(fillers(gateway).await, Vec::<String>::new(), "it could get another nonce than that of the gap");
        chain.mine_empty(1);
        gap_is_filled(chain, gateway).await;
    })
    .await;
}

/// Earlier releases stored it before it was signed, and could end between the two.
#[tokio::test]
async fn a_filler_that_was_stored_without_a_transaction_gets_the_nonce_of_its_gap() {
    each(async |chain, gateway| {
        open_gap(chain, gateway).await;
        let (id, account) = (chain.id(), Wallet::new(RELAYER).address().to_owned());
        let stored = format!(
            "INSERT INTO host_tx_intents (plugin, role, name, chain, chain_id, target, value_wei, data, state, created_ms, changed_ms) \
             VALUES ('host', 'relayer', 'gap {id} {account} 0', 'main', {id}, '{account}', '0', '0x', 'queued', 1, 1)"
        );
        gateway.execute(&stored).await;
        chain.mine_empty(2);
        gap_is_filled(chain, gateway).await;
    })
    .await;
}

#[tokio::test]
async fn a_filler_whose_gap_somebody_else_filled_after_all_has_failed() {
    each(async |chain, gateway| {
        open_gap(chain, gateway).await;
        chain.mine_empty(2);
        // Every pool loses the filler, and the one of somebody else comes back.
        chain.lose(true);
        until(async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            !fillers(gateway).await.is_empty()
        })
        .await;
        chain.lose(false);
        chain.send_foreign(relayer(), 0);
        chain.mine(Vec::new());
        let is_known = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            chain.mine_empty(1);
            (1..=3).all(|number| chain.mined().iter().any(|tx| tx.nonce == number))
                && fillers(gateway).await == ["Text(\"failed\") Int(0)"]
        };
        TestGateway::eventually(MINUTE, "the filler has failed, and those behind it are paid", is_known).await;
        assert_paid_once(chain, 1..=3);
    })
    .await;
}

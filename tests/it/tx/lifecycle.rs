//! The lifecycle of an intent, from its row to its final state.

use super::{
    DEPTH, MINUTE, ask, assert_paid_once, becomes, each, pay, payer::Pay, payment, relayer, status, until, waits, wei,
};
use plugin_api::{Address, Wei, chain::TxState};
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn a_payment_is_sent_included_and_final() {
    each(async |chain, gateway| {
        let id = pay(gateway, payment(5)).await;
        let sent = becomes(gateway, "5", TxState::Sent).await;
        assert_eq!((json!(sent.id), sent.nonce, sent.sender), (id, Some(0), Some(relayer())));
        assert_eq!((sent.block, sent.succeeded, sent.confirmations), (None, None, 0));
        let waiting = waits(chain, 1).await;
        assert_eq!((waiting[0].to, waiting[0].value), (Address([5; 20]), wei(5)));
        assert_eq!((waiting[0].tip, waiting[0].max_fee), (1_000_000_000, 1_000_000_014), "a tip of 1 gwei");
        assert_eq!(waiting[0].gas, 25_200, "a fifth more than the estimate");
        let block = chain.mine(Vec::new());
        let included = becomes(gateway, "5", TxState::Included).await;
        assert_eq!((included.block, included.succeeded), (Some(block), Some(true)));
        assert_eq!(included.hash.map(|hash| hash.0), Some(waiting[0].hash));
        assert_eq!(included.fee, Some(wei(21_000 * 1_000_000_007)));
        chain.mine_empty(DEPTH - 1);
        TestGateway::eventually(MINUTE, "three blocks are on top", async || {
            status(gateway, "5").await.confirmations == DEPTH
        })
        .await;
        assert_eq!(status(gateway, "5").await.state, TxState::Included, "one block is missing");
        chain.mine(Vec::new());
        let done = becomes(gateway, "5", TxState::Final).await;
        assert_eq!((done.reason, done.hashes.len()), (None, 1));
        assert_paid_once(chain, [5]);
    })
    .await;
}

#[tokio::test]
async fn nonces_follow_the_order_of_recording() {
    each(async |chain, gateway| {
        for number in 1..=30 {
            pay(gateway, payment(number)).await;
        }
        // No more than 16 are on their way at a time.
        let first = waits(chain, 16).await;
        assert_eq!(first.len(), 16);
        chain.mine(Vec::new());
        waits(chain, 14).await;
        chain.mine_empty(DEPTH + 1);
        for number in 1..=30u8 {
            assert_eq!(becomes(gateway, &number.to_string(), TxState::Final).await.nonce, Some(u64::from(number) - 1));
        }
        assert_paid_once(chain, 1..=30);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_reverts_in_its_block_fails_and_uses_its_nonce() {
    each(async |chain, gateway| {
        let contract = Address([0xcc; 20]);
        chain.fail_calls(contract);
        let call = Pay { to: contract, function: Some("settle(uint256)".into()), ..Pay::default() };
        pay(gateway, call).await;
        let waiting = waits(chain, 1).await;
        assert_eq!(waiting[0].data.len(), 36, "a selector and an argument");
        chain.mine(Vec::new());
        let included = becomes(gateway, "one", TxState::Included).await;
        assert_eq!(included.succeeded, Some(false), "said before the end, for who cannot wait");
        chain.mine_empty(DEPTH);
        let failed = becomes(gateway, "one", TxState::Failed).await;
        assert!(failed.reason.is_some_and(|reason| reason.contains("reverted in block 1")));
        assert_eq!(failed.nonce, Some(0));
        pay(gateway, payment(2)).await;
        assert_eq!(waits(chain, 1).await[0].nonce, 1);
    })
    .await;
}

#[tokio::test]
async fn a_block_that_is_taken_back_takes_the_inclusion_with_it() {
    each(async |chain, gateway| {
        pay(gateway, payment(9)).await;
        waits(chain, 1).await;
        chain.mine(Vec::new());
        let before = becomes(gateway, "9", TxState::Included).await;
        // Back into the pool, and into a later block.
        chain.reorg(1);
        chain.hold(true);
        chain.mine_empty(2);
        becomes(gateway, "9", TxState::Sent).await;
        chain.hold(false);
        let block = chain.mine(Vec::new());
        let after = becomes(gateway, "9", TxState::Included).await;
        assert_eq!((after.hash, after.block), (before.hash, Some(block)));
        assert_ne!(after.block_hash, before.block_hash);
        // Gone from the pool as well: it is sent again as it was.
        chain.reorg(1);
        chain.lose(false);
        chain.mine_empty(2);
        becomes(gateway, "9", TxState::Sent).await;
        assert_eq!(waits(chain, 1).await[0].hash, before.hash.unwrap().0);
        chain.mine_empty(DEPTH + 1);
        let done = becomes(gateway, "9", TxState::Final).await;
        assert_eq!(done.hashes.len(), 1);
        assert_paid_once(chain, [9]);
    })
    .await;
}

#[tokio::test]
async fn one_that_is_passed_by_is_replaced_and_any_of_its_transactions_counts() {
    each(async |chain, gateway| {
        chain.hold(true);
        pay(gateway, payment(3)).await;
        let first = waits(chain, 1).await.remove(0);
        chain.mine_empty(3);
        gateway.clock().advance(std::time::Duration::from_secs(21)).await;
        until(async || status(gateway, "3").await.hashes.len() == 2).await;
        until(async || chain.waiting()[0].hash != first.hash).await;
        let second = chain.waiting().remove(0);
        assert_eq!((second.nonce, second.tip), (first.nonce, 2 * first.tip));
        // The first transaction was in the pool of the producer of the next block.
        chain.lose(false);
        chain.push_pending(first.clone());
        chain.hold(false);
        chain.mine_empty(DEPTH + 1);
        let done = becomes(gateway, "3", TxState::Final).await;
        assert_eq!(done.hash.map(|hash| hash.0), Some(first.hash));
        assert_eq!(done.hashes.len(), 2);
        assert_paid_once(chain, [3]);
    })
    .await;
}

#[tokio::test]
async fn one_that_is_lost_on_its_way_is_sent_again() {
    each(async |chain, gateway| {
        chain.lose(true);
        pay(gateway, payment(3)).await;
        becomes(gateway, "3", TxState::Sent).await;
        chain.mine_empty(1);
        chain.lose(false);
        gateway.clock().advance(std::time::Duration::from_secs(9)).await;
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        assert_eq!(becomes(gateway, "3", TxState::Final).await.hashes.len(), 1, "the same one, as no time was lost");
        assert_paid_once(chain, [3]);
    })
    .await;
}

#[tokio::test]
async fn a_fee_that_is_too_low_is_raised_up_to_the_limit() {
    each(async |chain, gateway| {
        chain.set_tip_min(30_000_000_000);
        pay(gateway, payment(3)).await;
        let waiting = waits(chain, 1).await;
        assert_eq!(waiting[0].tip, 32_000_000_000);
        chain.mine(Vec::new());
        becomes(gateway, "3", TxState::Included).await;
        chain.set_tip_min(60_000_000_000);
        pay(gateway, payment(4)).await;
        super::says(gateway, "4", "tx.max_fee_gwei (50)").await;
        let queue = ask(gateway, "nonce-queue", &json!("relayer")).await;
        assert_eq!((&queue["pending"], &queue["queued"]), (&json!(1), &json!(0)), "{queue}");
        chain.set_tip_min(1_000_000_000);
        gateway.clock().advance(std::time::Duration::from_secs(9)).await;
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "4", TxState::Final).await;
        assert_paid_once(chain, [3, 4]);
    })
    .await;
}

#[tokio::test]
async fn the_largest_amount_survives_every_path() {
    each(async |chain, gateway| {
        let most = Wei(
            alloy_primitives::U256::MAX - alloy_primitives::U256::from(10u64).pow(alloy_primitives::U256::from(20))
        );
        chain.set_balance(relayer(), &alloy_primitives::U256::MAX.to_string());
        // Refused by the old balance, which the gateway then reads again.
        until(async || pay(gateway, Pay { value: most, ..Pay::default() }).await.is_number()).await;
        assert_eq!(waits(chain, 1).await[0].value, most);
    })
    .await;
}

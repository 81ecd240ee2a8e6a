//! Intents that cannot be sent now, or never.

use super::{
    DEPTH, RICH, ask, assert_paid_once, becomes, cancel::is_first, each, each_with, pay, payer::Pay, payment, relayer,
    says, status, until, waits, wei,
};
use plugin_api::{Address, HostErrorCode, chain::TxState, manifest::IntentFailure};
use plugin_testing::{Builder, json};
use std::time::Duration;

#[tokio::test]
async fn an_account_that_cannot_pay_is_said_before_and_after_recording() {
    each(async |chain, gateway| {
        // The known balance is high when the intent is recorded, and the real one is too low when it is signed.
        until(async || !ask(gateway, "nonce-queue", &json!("relayer")).await["balance"].is_null()).await;
        chain.set_balance(relayer(), "1000");
        pay(gateway, payment(8)).await;
        says(gateway, "8", "has 1000 wei that are not spoken for").await;
        let refused = pay(gateway, Pay { value: wei(2000), ..payment(9) }).await;
        assert_eq!(refused["code"], HostErrorCode::Disabled as u32, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("of the role relayer has 1000 wei"), "{refused}");
        // The account's reason is set at the end of the pass that stored the intent's reason.
        let service = async || gateway.get("/api/status").await.json()["services"]["tx"].clone();
        until(async || service().await["ok"] == false).await;
        let service = service().await;
        assert!(service["detail"].as_str().unwrap().contains("1000 wei"), "{service}");
        chain.set_balance(relayer(), RICH);
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "8", TxState::Final).await;
        assert_paid_once(chain, [8]);
    })
    .await;
}

#[tokio::test]
async fn what_is_on_its_way_counts_as_spent() {
    each(async |chain, gateway| {
        chain.hold(true);
        let half = "40000000000000000000";
        chain.set_balance(relayer(), "70000000000000000000");
        for key in ["1", "2"] {
            pay(gateway, Pay { key: key.into(), value: half.parse().unwrap(), ..Pay::default() }).await;
        }
        waits(chain, 1).await;
        says(gateway, "2", "not spoken for").await;
        assert_eq!(status(gateway, "1").await.state, TxState::Sent);
    })
    .await;
}

/// 0.6 thousandths of a coin for gas, where one thousandth may be spent in a day.
fn dear(number: u8) -> Pay {
    Pay { gas: Some(600_000), ..payment(number) }
}

fn with_daily_limit(builder: Builder) -> Builder {
    builder.configure(|config| config.tx.daily_fee_max_milli = 1)
}

const DAILY_LIMIT: &str = "could exceed tx.daily_fee_max_milli (1)";

#[tokio::test]
async fn the_fees_of_a_day_have_a_limit() {
    each_with(with_daily_limit, async |chain, gateway| {
        for number in [1, 2] {
            pay(gateway, dear(number)).await;
        }
        waits(chain, 1).await;
        says(gateway, "2", DAILY_LIMIT).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "1", TxState::Final).await;
        assert_eq!(status(gateway, "2").await.state, TxState::Queued, "what is paid counts, too");
        gateway.clock().advance(Duration::from_secs(86_401)).await;
        waits(chain, 1).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "2", TxState::Final).await;
        assert_paid_once(chain, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn a_replacement_keeps_to_the_limit_of_the_day() {
    each_with(with_daily_limit, async |chain, gateway| {
        chain.set_tip_min(2_000_000_000);
        pay(gateway, dear(1)).await;
        says(gateway, "1", DAILY_LIMIT).await;
        assert_eq!(status(gateway, "1").await.hashes.len(), 1, "twice the tip would be 1.2 thousandths");
        assert!(chain.waiting().is_empty() && chain.mined().is_empty());
        // A fee that fits is not held up, and both get through when the servers ask for less.
        pay(gateway, Pay { gas: Some(300_000), ..payment(2) }).await;
        chain.set_tip_min(1_000_000_000);
        gateway.clock().advance(Duration::from_secs(9)).await;
        waits(chain, 2).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "2", TxState::Final).await;
        assert_paid_once(chain, [1, 2]);
    })
    .await;
}

/// A block may still have the dear one.
#[tokio::test]
async fn a_cheap_cancellation_does_not_make_room_for_another_dear_transaction() {
    each_with(with_daily_limit, async |chain, gateway| {
        chain.refuse_transactions("intrinsic gas too low", is_first);
        pay(gateway, dear(1)).await;
        until(async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            chain.waiting().len() == 1
        })
        .await;
        assert_eq!(status(gateway, "1").await.hashes.len(), 2, "an empty transfer takes its nonce");
        pay(gateway, dear(2)).await;
        says(gateway, "2", DAILY_LIMIT).await;
    })
    .await;
}

/// It waited for coins, not for a server.
#[tokio::test]
async fn one_failed_estimate_does_not_end_what_waited_long_for_another_reason() {
    each(async |chain, gateway| {
        chain.set_balance(relayer(), "0");
        pay(gateway, payment(1)).await;
        says(gateway, "1", "not spoken for").await;
        gateway.clock().advance(Duration::from_secs(11 * 60)).await;
        chain.refuse_estimates(Some("header not found"));
        chain.set_balance(relayer(), RICH);
        says(gateway, "1", "no RPC server estimates its gas").await;
        assert_eq!(status(gateway, "1").await.state, TxState::Queued);
        gateway.clock().advance(Duration::from_secs(9 * 60)).await;
        chain.refuse_estimates(None);
        waits(chain, 1).await;
        chain.refuse_estimates(Some("header not found"));
        pay(gateway, payment(2)).await;
        says(gateway, "2", "no RPC server estimates its gas").await;
        gateway.clock().advance(Duration::from_secs(11 * 60)).await;
        becomes(gateway, "2", TxState::Failed).await;
    })
    .await;
}

#[tokio::test]
async fn the_nonce_queue_of_a_chain_without_a_grant_is_refused() {
    each(async |_, gateway| {
        let refused = ask(gateway, "nonce-queue-elsewhere", &json!("other")).await;
        let message = "the plugin does not declare the chain `other` in its grants";
        assert_eq!(refused["error"], message, "{refused}");
    })
    .await;
}

/// What a transaction would have cost that was replaced, is spent once.
#[tokio::test]
async fn a_replacement_counts_in_the_place_of_what_it_replaces() {
    each_with(with_daily_limit, async |chain, gateway| {
        chain.set_tip_min(2_000_000_000);
        // 0.3, then 0.6: together they would be too much after one more of 0.3.
        pay(gateway, Pay { gas: Some(300_000), ..payment(1) }).await;
        pay(gateway, Pay { gas: Some(190_000), ..payment(2) }).await;
        assert_eq!(waits(chain, 2).await.iter().map(|tx| tx.tip).collect::<Vec<_>>(), [2_000_000_000; 2]);
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "2", TxState::Final).await;
        assert_paid_once(chain, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_would_revert_is_not_sent() {
    each(async |chain, gateway| {
        let contract = Address([0xcc; 20]);
        chain.refuse_calls(contract, true);
        pay(gateway, Pay { to: contract, ..Pay::default() }).await;
        let failed = becomes(gateway, "one", TxState::Failed).await;
        assert_eq!(failed.failure, Some(IntentFailure::Reverted));
        assert!(failed.reason.is_some_and(|reason| reason.contains("would revert: execution reverted: not now")));
        assert_eq!((failed.nonce, failed.hashes.len()), (None, 0), "no nonce is used");
        // It waits while an earlier transaction is pending, because it may depend on that one.
        chain.hold(true);
        pay(gateway, payment(1)).await;
        pay(gateway, Pay { to: contract, key: "two".into(), ..Pay::default() }).await;
        says(gateway, "two", "tried again later").await;
        // Others go on meanwhile.
        pay(gateway, payment(2)).await;
        waits(chain, 2).await;
        chain.hold(false);
        chain.refuse_calls(contract, false);
        waits(chain, 3).await;
        chain.mine_empty(DEPTH + 1);
        becomes(gateway, "two", TxState::Final).await;
        assert_paid_once(chain, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn the_gas_limit_is_kept() {
    each(async |chain, gateway| {
        let call = |key: &str, gas| Pay {
            key: key.into(),
            to: Address([0xcc; 20]),
            function: Some("settle(uint256)".into()),
            gas: Some(gas),
            ..Pay::default()
        };
        pay(gateway, call("tight", 49_999)).await;
        let failed = becomes(gateway, "tight", TxState::Failed).await;
        assert_eq!(failed.reason.as_deref(), Some("it would take 50000 gas, and its limit is 49999"));
        assert_eq!(failed.failure, Some(IntentFailure::OutOfGas));
        pay(gateway, call("endless", 30_000_001)).await;
        let failed = becomes(gateway, "endless", TxState::Failed).await;
        assert!(failed.reason.is_some_and(|reason| reason.contains("more than a block holds (30000000)")));
        pay(gateway, call("wide", 300_000)).await;
        assert_eq!(waits(chain, 1).await[0].gas, 300_000);
    })
    .await;
}

#[tokio::test]
async fn what_comes_too_late_is_not_begun() {
    each(async |chain, gateway| {
        let until_s = gateway.now_s() + 60;
        until(async || !ask(gateway, "nonce-queue", &json!("relayer")).await["balance"].is_null()).await;
        chain.set_balance(relayer(), "1");
        pay(gateway, Pay { valid_until_s: Some(until_s), ..payment(0) }).await;
        gateway.clock().advance(Duration::from_secs(61)).await;
        let failed = becomes(gateway, "0", TxState::Failed).await;
        assert!(failed.reason.is_some_and(|reason| reason.contains("its time was over")));
        assert_eq!(chain.waiting(), []);
    })
    .await;
}

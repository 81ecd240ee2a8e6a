//! What operators see of the journal while transactions wait and when they are final.

use super::{DEPTH, MINUTE, RICH, becomes, builders, each, each_with, pay, payment, relayer, waits};
use plugin_api::chain::TxState;
use plugin_testing::{Builder, ScriptedChain, TestGateway};
use std::time::Duration;

#[tokio::test]
async fn the_accounts_and_what_is_unfinished_are_listed() {
    each(async |chain, gateway| {
        let journal = &gateway.gateway().journal;
        assert!(journal.unfinished(10).await.unwrap().is_empty());
        for number in [7, 8] {
            pay(gateway, payment(number)).await;
        }
        let waiting = waits(chain, 2).await;
        for key in ["7", "8"] {
            becomes(gateway, key, TxState::Sent).await;
        }
        let unfinished = journal.unfinished(10).await.unwrap();
        let shown = |state| {
            let rows = unfinished.iter().map(|row| (row.key.as_str(), row.value_wei.as_str(), row.nonce, row.state));
            rows.collect::<Vec<_>>() == [("7", "7", Some(0), state), ("8", "8", Some(1), state)]
        };
        assert!(shown(TxState::Sent), "oldest first: {unfinished:?}");
        assert_eq!(unfinished[0].hash.map(|hash| hash.0), Some(waiting[0].hash));
        assert_eq!(journal.unfinished(1).await.unwrap().len(), 1);

        let sending = || journal.accounts().into_iter().find(|account| account.address.0 == relayer().0);
        let are_pending = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            sending().is_some_and(|account| account.pending == 2)
        };
        TestGateway::eventually(MINUTE, "both are pending", are_pending).await;
        let account = sending().unwrap();
        assert_eq!((account.chain.as_str(), account.roles), ("main", vec!["relayer".to_owned()]));
        assert_eq!((account.queued, account.balance_wei.as_deref()), (0, Some(RICH)));

        chain.mine(Vec::new());
        chain.mine_empty(DEPTH + 1);
        for key in ["7", "8"] {
            becomes(gateway, key, TxState::Final).await;
        }
        assert!(journal.unfinished(10).await.unwrap().is_empty());
        let newest: Vec<(String, TxState)> =
            journal.newest(1).await.unwrap().into_iter().map(|row| (row.key, row.state)).collect();
        assert_eq!(newest, [("8".to_owned(), TxState::Final)]);
    })
    .await;
}

#[tokio::test]
async fn all_that_wait_are_counted_however_many_they_are() {
    let one_at_a_time = |builder: Builder| builder.configure(|config| config.tx.in_flight_max = 1);
    each_with(one_at_a_time, async |chain, gateway| {
        chain.hold(true);
        for number in 1..=80 {
            pay(gateway, payment(number)).await;
        }
        waits(chain, 1).await;
        let counted = async || {
            let accounts = gateway.gateway().journal.accounts();
            accounts.iter().any(|account| (account.pending, account.queued) == (1, 79))
        };
        TestGateway::eventually(MINUTE, "79 are queued", counted).await;
    })
    .await;
}

#[tokio::test]
async fn an_account_whose_key_is_gone_is_reported_until_its_transactions_are_in_a_block() {
    let count = builders(&ScriptedChain::start().await).await.len();
    for place in 0..count {
        let chain = ScriptedChain::start().await;
        let mut gateway = builders(&chain).await.remove(place).start().await;
        chain.hold(true);
        pay(&gateway, payment(1)).await;
        waits(&chain, 1).await;
        gateway = gateway.restart_after(|config| drop(config.signers.remove("relayer"))).await;
        let told = || {
            let accounts = gateway.gateway().journal.accounts();
            let account = accounts.into_iter().find(|account| account.address.0 == relayer().0);
            account.map(|account| (account.roles, account.pending, account.reason))
        };
        let gone = Some((Vec::new(), 1, Some("its key is no longer configured".to_owned())));
        TestGateway::eventually(MINUTE, "it is reported", async || told() == gone).await;
        assert!(!gateway.gateway().journal.services()["tx"].ok);
        chain.hold(false);
        chain.mine_empty(DEPTH + 1);
        TestGateway::eventually(MINUTE, "nothing of it is left", async || told().is_none()).await;
        gateway.stop().await;
    }
}

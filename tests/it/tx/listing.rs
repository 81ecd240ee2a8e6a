//! What operators see of the journal while transactions wait and when they are final.

use super::{DEPTH, MINUTE, RICH, becomes, each, pay, payment, relayer, waits};
use plugin_api::chain::TxState;
use plugin_testing::TestGateway;
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

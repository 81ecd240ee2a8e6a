//! A signature and a write interval are used up for all gateways at once.

use super::Pair;
use crate::{
    crash::{Ledger, Outcome, Stored, Write, send},
    e2e::THREADS,
};
use gateway_clock::Clock;
use gateway_plugins::{CommitError, IntervalClock, PluginTransaction, TransactionOwner, WriteGuard};
use gateway_storage::Scope;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Wallet};

#[tokio::test]
async fn of_the_same_request_to_both_at_once_one_is_taken() {
    let pair = Pair::start(|setup| setup).await;
    let [one, other] = &pair.sites;
    let mut ledger = Ledger::default();
    for number in 0..40 {
        let mut write = Write::thread(&Wallet::new(number), "once");
        let (first, second) = tokio::join!(send(one, &write), send(other, &write));
        let mut outcomes = [first, second].map(|answer| answer.map(|(status, code, _)| (status, code)).unwrap());
        outcomes.sort();
        assert_eq!(outcomes, [(201, String::new()), (409, "replay".to_owned())]);
        write.outcome = Outcome::Acknowledged;
        ledger.writes.push(write);
    }
    let kept = Stored::read(&pair.setups[0]).await;
    ledger.compare(&kept);
    for site in &pair.sites {
        ledger.replay(site, &kept).await;
    }
}

#[tokio::test]
async fn a_wallet_has_one_turn_per_interval_at_both_together() {
    let pair = Pair::start(|setup| setup.set("limits.write_interval_ms", 3000)).await;
    let [one, other] = &pair.sites;
    let wallet = Wallet::new(1);
    let writes = [Write::thread(&wallet, "one"), Write::thread(&wallet, "other")];
    let (first, second) = tokio::join!(send(one, &writes[0]), send(other, &writes[1]));
    let statuses = [first, second].map(|answer| answer.unwrap().0);
    let late = usize::from(statuses == [201, 429]);
    assert!(statuses == [201, 429] || statuses == [429, 201], "{statuses:?}");
    // Refused by both gateways; after the interval the same signature is accepted.
    for site in &pair.sites {
        assert_eq!(send(site, &writes[late]).await.unwrap().0, 429);
    }
    let sent = async || send(&pair.sites[1 - late], &writes[late]).await.unwrap().0 == 201;
    TestGateway::eventually(LIMIT, "its turn comes", sent).await;
    assert_eq!(one.get(THREADS).await.json()["total"], 2);
}

/// A replica's clock is five seconds ahead: by its time the interval would be over before it began.
#[tokio::test]
async fn a_clock_that_differs_gives_no_second_turn() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let gateway = builder.start().await;
    let host = &gateway.gateway().host;
    let now_ms = Clock::System.now_ms();
    let write = async |digest: &str, ahead_ms: i64| {
        let guard = WriteGuard {
            signer: Wallet::new(1).address().to_string(),
            digest: digest.to_owned(),
            now_ms: now_ms + ahead_ms,
            interval_ms: 3000,
            interval_clock: IntervalClock::of(host.database.dialect(), &Clock::System),
            remember_until_s: now_ms / 1000 + 900,
        };
        PluginTransaction::new(host, Scope::Host, TransactionOwner::Plugin).finish(Some(&guard)).await
    };
    write("one", 0).await.unwrap();
    for ahead_ms in [5000, -5000, 0] {
        let refused = write("other", ahead_ms).await;
        assert!(matches!(refused, Err(CommitError::TooSoon)), "{ahead_ms}: {refused:?}");
    }
    let waited = async || write("other", 0).await.is_ok();
    TestGateway::eventually(LIMIT, "its turn comes by the database's clock", waited).await;
    gateway.stop().await;
}

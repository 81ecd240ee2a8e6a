//! A signature and a write interval are used up for all gateways at once.

use super::{Replicas, THREE};
use crate::{
    crash::{Ledger, Outcome, StoredRows, Write, send},
    e2e::THREADS,
};
use futures_util::future::join_all;
use gateway_clock::Clock;
use gateway_plugins::{CommitError, CommitMode, IntervalClock, PluginTransaction, SignedWriteRecord};
use gateway_storage::Scope;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value, Wallet};
use std::sync::Arc;

#[tokio::test]
async fn of_the_same_request_to_all_at_once_one_is_taken() {
    let replicas = Replicas::start(THREE, |setup| setup).await;
    let mut ledger = Ledger::default();
    for number in 0..40 {
        let mut write = Write::thread(&Wallet::new(number), "once");
        let answers = join_all(replicas.sites.iter().map(|site| send(site, &write))).await;
        let outcome = |answer: Option<(u16, String, Value)>| answer.map(|(status, code, _)| (status, code)).unwrap();
        let mut outcomes: Vec<(u16, String)> = answers.into_iter().map(outcome).collect();
        outcomes.sort();
        let replay = (409, "replay".to_owned());
        assert_eq!(outcomes, [(201, String::new()), replay.clone(), replay]);
        write.outcome = Outcome::Acknowledged;
        ledger.writes.push(write);
    }
    let kept = StoredRows::read_sequenced(&replicas.setups[0]).await;
    ledger.compare(&kept);
    for site in &replicas.sites {
        ledger.replay(site, &kept).await;
    }
}

#[tokio::test]
async fn a_wallet_has_one_turn_per_interval_at_all_together() {
    let replicas = Replicas::start(THREE, |setup| setup.set("limits.write_interval_ms", 3000)).await;
    let wallet = Wallet::new(1);
    let writes: Vec<Write> = (0..THREE).map(|number| Write::thread(&wallet, &format!("number {number}"))).collect();
    let answers = join_all(replicas.sites.iter().zip(&writes).map(|(site, write)| send(site, write))).await;
    let statuses: Vec<u16> = answers.into_iter().map(|answer| answer.unwrap().0).collect();
    let late = statuses.iter().position(|status| *status == 429).unwrap();
    let mut sorted = statuses.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [201, 429, 429]);
    // Refused by all gateways; after the interval the same signature is accepted.
    for site in &replicas.sites {
        assert_eq!(send(site, &writes[late]).await.unwrap().0, 429);
    }
    let another = &replicas.sites[(late + 1) % THREE];
    let sent = async || send(another, &writes[late]).await.unwrap().0 == 201;
    TestGateway::eventually(LIMIT, "its turn comes", sent).await;
    assert_eq!(another.get(THREADS).await.json()["total"], 2);
}

/// A replica's clock is five seconds ahead: by its time the interval would be over before it began.
#[tokio::test]
async fn a_clock_that_differs_gives_no_second_turn() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let gateway = builder.start().await;
    let context = &gateway.gateway().dispatcher.transactions;
    let now_ms = Clock::System.now_ms();
    let write = async |digest: &str, ahead_ms: i64| {
        let guard = SignedWriteRecord {
            signer: Wallet::new(1).address().to_string(),
            digest: digest.to_owned(),
            now_ms: now_ms + ahead_ms,
            interval_ms: 3000,
            interval_clock: IntervalClock::of(context.database.dialect(), &Clock::System),
            remember_until_s: now_ms / 1000 + 900,
        };
        let mode = CommitMode::Request(Some(Arc::new(guard)));
        PluginTransaction::new(context, Scope::Host, mode).finish().await
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

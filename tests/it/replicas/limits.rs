//! A signature and a write interval are used up for all gateways at once.

use super::Pair;
use crate::{
    crash::{Ledger, Outcome, Stored, Write, send},
    e2e::THREADS,
};
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

//! The gateway that gives events their positions is frozen for longer than its lease, another one goes on, and then it wakes up in
//! the belief that it still holds the lease.

use super::{ReconnectingReader, Replicas, THREE, send_unanswered_again, write_last};
use crate::crash::{Dice, Ledger, Load, StoredRows, query};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value, Wallet};
use std::{cell::Cell, time::Duration};

const FREEZES: u64 = 2;
/// Twice the lease.
const FROZEN: Duration = Duration::from_secs(3);
const BEFORE: u64 = 30;
/// What the others write while it is frozen, beside what is written until another one sequences.
const MEANWHILE: u64 = 30;
/// What all write after it.
const AFTERWARDS: u64 = 30;
const HAS_BEGUN: &str = "this gateway sequences the activity log";
const HAS_NOTICED: &str = "another gateway sequences the activity log now";

/// The fencing token of the newest lease.
async fn token(replicas: &Replicas) -> i64 {
    query(&replicas.setups[0], "SELECT CAST(token AS TEXT) FROM host_activity_sequencer").await[0][0].parse().unwrap()
}

/// The gateway that has the lease with this token: it has logged so.
fn holder(replicas: &Replicas, token: i64) -> Option<usize> {
    let says_so = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        line["message"] == HAS_BEGUN && line["token"] == token
    };
    replicas.setups.iter().position(|setup| setup.log().lines().any(says_so))
}

/// The gateway that has the newest lease, with its token, which is above `known`.
async fn sequencer_after(replicas: &Replicas, known: i64) -> (usize, i64) {
    let found = Cell::default();
    let is_found = async || {
        let token = token(replicas).await;
        found.set(holder(replicas, token).filter(|_| token > known).map(|holder| (holder, token)));
        found.get().is_some()
    };
    TestGateway::eventually(LIMIT, "a gateway sequences", is_found).await;
    found.get().expect("it was found")
}

fn has_noticed(replicas: &Replicas, index: usize) -> usize {
    replicas.setups[index].log().matches(HAS_NOTICED).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sequencer_that_slept_through_its_lease_spoils_nothing() {
    let replicas = Replicas::start(THREE, |setup| {
        let setup = setup.set("log.level", "info,gateway_activity=debug").set("log.format", "json");
        setup.set("activity.ring_events", 16)
    })
    .await;
    let wallets: Vec<Wallet> = (0..12).map(Wallet::new).collect();
    let (at_others, at_frozen) = wallets.split_at(9);
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let mut readers = [ReconnectingReader::default(), ReconnectingReader::default(), ReconnectingReader::default()];

    for freeze in 0..FREEZES {
        let last = format!("the last word of freeze {freeze}");
        let (victim, lease) = sequencer_after(&replicas, 0).await;
        let (others, noticed) = (replicas.others(victim), has_noticed(&replicas, victim));
        let of_victim = &replicas.sites[victim..=victim];
        let frozen = &replicas.gateways[victim];
        let writes = async {
            let load = Load::new(&others, format!("freeze {freeze}"));
            let load_of_victim = Load::new(of_victim, format!("freeze {freeze} of the frozen one"));
            let freezing = async {
                load.reached(BEFORE).await;
                frozen.freeze().unwrap();
                let goes_on = async {
                    sequencer_after(&replicas, lease).await;
                    load.reached(load.acknowledged() + MEANWHILE).await;
                };
                tokio::join!(goes_on, tokio::time::sleep(FROZEN));
                frozen.thaw().unwrap();
                load.reached(load.acknowledged() + AFTERWARDS).await;
                load_of_victim.reached(load_of_victim.acknowledged() + 3).await;
                load.end();
                load_of_victim.end();
            };
            let dices = [dice.fork(2 * freeze), dice.fork(2 * freeze + 1)];
            let (written, more, ()) = tokio::join!(
                load.run(at_others, &dices[0], Vec::new()),
                load_of_victim.run(at_frozen, &dices[1], Vec::new()),
                freezing,
            );
            ledger.writes.extend([written, more].concat());
            send_unanswered_again(&replicas.sites, &mut ledger, &wallets, &dice).await;
            write_last(&others[0], &mut ledger, &last).await;
        };
        let [stay, sleep, change] = &mut readers;
        let in_turn = [of_victim, &others[..]].concat();
        tokio::join!(
            writes,
            stay.read_to(&others, &last, usize::MAX),
            sleep.read_to(of_victim, &last, usize::MAX),
            change.read_to(&in_turn, &last, 7),
        );
        assert!(has_noticed(&replicas, victim) > noticed, "it did not believe to hold the lease when it woke up");
    }

    let stored = StoredRows::read_sequenced(&replicas.setups[0]).await;
    let dense: Vec<i64> = (1..).take(stored.event_ids.len()).collect();
    assert_eq!(stored.event_ids, dense, "positions have no gap");
    ledger.compare(&stored);
    for reader in &readers {
        assert_eq!(reader.ids, dense, "in {} streams", reader.streams);
    }
    ledger.replay(&replicas.sites[0], &stored).await;
}

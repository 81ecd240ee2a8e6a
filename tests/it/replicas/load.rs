//! Writes and streams on all gateways, each of which is killed in the middle and starts again.

use super::{ReconnectingReader, Replicas, THREE, send_unanswered_again, write_last};
use crate::crash::{Dice, Ledger, Load, StoredRows};
use plugin_testing::Wallet;

/// Writes of one round before the kill, and in all.
const BEFORE_KILL: u64 = 120;
const WRITES: u64 = 180;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_all_tell_all_writes_in_order_and_kills_lose_none() {
    let mut replicas = Replicas::start(THREE, |setup| setup.set("activity.ring_events", 16)).await;
    let wallets: Vec<Wallet> = (0..10).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let mut readers = [ReconnectingReader::default(), ReconnectingReader::default(), ReconnectingReader::default()];

    // One of them gives the events their ids: it is killed in one of the rounds.
    for victim in 0..THREE {
        let last = format!("the last word of round {victim}");
        let (sites, others) = (replicas.sites.clone(), replicas.others(victim));
        let killed = &mut replicas.gateways[victim];
        let writes = async {
            let load = Load::new(&sites, format!("round {victim}"));
            let kill = async {
                load.reached(BEFORE_KILL).await;
                killed.kill().await.unwrap();
                load.reached(WRITES).await;
                load.end();
            };
            let load_dice = dice.fork(victim as u64);
            let (written, ()) = tokio::join!(load.run(&wallets, &load_dice, Vec::new()), kill);
            ledger.writes.extend(written);
            send_unanswered_again(&others, &mut ledger, &wallets, &dice).await;
            write_last(&others[0], &mut ledger, &last).await;
        };
        let [stay, change, lose] = &mut readers;
        // The third begins at the gateway that is killed.
        let from_victim = [&sites[victim..=victim], &others[..]].concat();
        tokio::join!(
            writes,
            stay.read_to(&others, &last, usize::MAX),
            change.read_to(&others, &last, 7),
            lose.read_to(&from_victim, &last, usize::MAX),
        );
        replicas.start_again(victim).await;
    }

    let stored = StoredRows::read_sequenced(&replicas.setups[0]).await;
    ledger.compare(&stored);
    let [stay, change, lose] = &readers;
    assert_eq!(stay.ids, stored.event_ids, "at one gateway that lives on");
    assert_eq!(change.ids, stored.event_ids, "at one and the other");
    assert_eq!(lose.ids, stored.event_ids, "at one that is killed");
    assert!(change.streams > 30 && lose.streams >= 2 * THREE, "{} and {} streams", change.streams, lose.streams);
    // Every one of them refuses what is stored.
    for site in &replicas.sites {
        ledger.replay(site, &stored).await;
    }
    ledger.compare(&StoredRows::read_sequenced(&replicas.setups[0]).await);
}

//! SIGKILL at random times to one of several gateways that write, again and again.

use super::{Replicas, THREE, send_unanswered_again};
use crate::crash::{Dice, Ledger, Load, Outcome, StoredRows};
use plugin_testing::Wallet;
use std::time::Duration;

const KILLS: u64 = 12;
/// A kill comes after at most this many responses and a random delay, so that it hits any step of a write.
const ANSWERS: u64 = 30;
const LOAD_MS: u64 = 20;
/// What the others write between the kill and the next one.
const AFTER_KILL: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_replicas_in_turn_lose_and_double_nothing() {
    let mut replicas = Replicas::start(THREE, |setup| setup).await;
    let wallets: Vec<Wallet> = (0..9).map(Wallet::new).collect();
    let (mut dice, mut ledger) = (Dice::new(), Ledger::default());
    let mut unanswered = 0;
    for kill in 0..KILLS {
        let victim = usize::try_from(dice.below(THREE as u64)).unwrap();
        let (sites, others) = (replicas.sites.clone(), replicas.others(victim));
        let load = Load::new(&sites, format!("kill {kill}"));
        let (answers, moment) = (dice.below(ANSWERS), Duration::from_micros(dice.below(LOAD_MS * 1000)));
        let killed = &mut replicas.gateways[victim];
        let killer = async {
            load.reached(answers).await;
            // A random moment is what is tested.
            tokio::time::sleep(moment).await;
            killed.kill().await.unwrap();
            load.reached(answers + AFTER_KILL).await;
            load.end();
        };
        let load_dice = dice.fork(kill);
        let (written, ()) = tokio::join!(load.run(&wallets, &load_dice, Vec::new()), killer);
        unanswered += written.iter().filter(|write| write.outcome == Outcome::Unknown).count();
        ledger.writes.extend(written);
        // After the other kills clients wait, until the killed gateway has started again and longer.
        if dice.below(2) == 0 {
            send_unanswered_again(&others, &mut ledger, &wallets, &dice).await;
        }
        replicas.start_again(victim).await;
    }
    send_unanswered_again(&replicas.sites, &mut ledger, &wallets, &dice).await;
    assert!(unanswered > 0, "no kill hit a write");
    let stored = StoredRows::read_sequenced(&replicas.setups[0]).await;
    ledger.compare(&stored);
    ledger.replay(&replicas.sites[0], &stored).await;
    ledger.compare(&StoredRows::read_sequenced(&replicas.setups[0]).await);
}

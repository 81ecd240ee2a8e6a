//! SIGKILL at random times: while the gateway starts, while it writes, while it recovers from the last kill.

use super::{Dice, Ledger, Load, Outcome, StoredRows, Write, kills_or, small_setup};
use crate::e2e::Site;
use futures_util::future::join_all;
use gateway_tests::{postgres, process::Setup};
use plugin_testing::Wallet;
use std::time::{Duration, Instant};

const WALLETS: u64 = 6;
/// On SQLite; a quarter of them on PostgreSQL, where each takes longer. `cargo xtask kills` sets another number.
const KILLS: u64 = 80;
/// A start takes about 100 ms.
const START_MS: u64 = 150;
/// A kill comes after at most this many responses and a random delay, so that it hits any step of a write.
const ANSWERS: u64 = 15;
const LOAD_MS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_and_double_nothing_on_sqlite() {
    const GATEWAYS: u64 = 4;
    let kills = kills_or(KILLS) / GATEWAYS;
    let dice = Dice::new();
    let started = Instant::now();
    let tallies = join_all((0..GATEWAYS).map(|number| run(small_setup(), kills, dice.fork(number)))).await;
    report(&tallies, GATEWAYS * kills, started);
    // Otherwise it proves little.
    assert!(tallies.iter().all(|tally| tally.acknowledged as u64 > kills));
    assert!(tallies.iter().any(|tally| tally.without_answer > 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_and_double_nothing_on_postgres() {
    let kills = kills_or(KILLS) / 4;
    let started = Instant::now();
    let setup = small_setup().set("database.url", postgres::fresh_database().await.unwrap());
    let tally = run(setup, kills, Dice::new()).await;
    assert!(tally.acknowledged as u64 > kills && tally.without_answer > 0, "{tally:?}");
    report(&[tally], kills, started);
}

#[derive(Debug)]
struct WriteCounts {
    acknowledged: usize,
    refused: usize,
    /// Left without an answer when the process was killed.
    without_answer: usize,
    /// The answer got lost, not the write.
    stored_without_answer: usize,
}

/// Kills the gateways of one database, one after the other, and compares at the end what is stored with what clients were told.
async fn run(setup: Setup, kills: u64, mut dice: Dice) -> WriteCounts {
    let wallets: Vec<Wallet> = (0..WALLETS).map(Wallet::new).collect();
    let mut ledger = Ledger::default();
    let mut threads = Vec::new();
    for kill in 0..kills {
        if dice.below(8) == 0 {
            kill_while_it_starts(&setup, Duration::from_millis(dice.below(START_MS))).await;
            continue;
        }
        let mut gateway = setup.start().await.unwrap();
        let sites = [Site::of(&gateway)];
        let mut load = Load::new(&sites, format!("kill {kill}"));
        load.ends_when_lost = true;
        load.threads = threads.into();
        let (answers, moment) = (dice.below(ANSWERS), Duration::from_micros(dice.below(LOAD_MS * 1000)));
        let killer = async {
            load.reached(answers).await;
            // A random moment is what is tested.
            tokio::time::sleep(moment).await;
            gateway.kill().await.unwrap();
        };
        // Half of the clients without a response send their request again; the others do not.
        let retries = if dice.below(2) == 0 { ledger.take_unknown() } else { Vec::new() };
        let load_dice = dice.fork(kill);
        let (written, ()) = tokio::join!(load.run(&wallets, &load_dice, retries), killer);
        ledger.writes.extend(written);
        threads = load.threads.into_inner().unwrap();
    }
    audit(&setup, ledger).await
}

/// Dropping what waits for the start kills the process.
async fn kill_while_it_starts(setup: &Setup, moment: Duration) {
    if let Ok(started) = tokio::time::timeout(moment, setup.start()).await {
        started.unwrap().kill().await.unwrap();
    }
}

async fn audit(setup: &Setup, mut ledger: Ledger) -> WriteCounts {
    let gateway = setup.start().await.unwrap();
    let stored = StoredRows::read(setup).await;
    ledger.compare(&stored);
    let unknown: Vec<&Write> = ledger.writes.iter().filter(|write| write.outcome == Outcome::Unknown).collect();
    let tally = WriteCounts {
        acknowledged: ledger.count(Outcome::Acknowledged),
        refused: ledger.count(Outcome::Refused),
        without_answer: unknown.len(),
        stored_without_answer: unknown.iter().filter(|write| stored.authors.contains_key(&write.text)).count(),
    };
    ledger.replay(&Site::of(&gateway), &stored).await;
    ledger.compare(&StoredRows::read(setup).await);
    tally
}

fn report(tallies: &[WriteCounts], kills: u64, started: Instant) {
    eprintln!("{kills} kills in {:?}", started.elapsed());
    for WriteCounts { acknowledged, refused, without_answer, stored_without_answer } in tallies {
        eprintln!(
            "{acknowledged} acknowledged, {refused} too early, {without_answer} without an answer, of which {stored_without_answer} are stored"
        );
    }
}

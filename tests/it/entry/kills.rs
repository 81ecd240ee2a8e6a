//! SIGKILL at random times while coins are given away, accounts created and calls relayed, with reorganisations, transactions that the
//! pool loses, and another sender that uses the same key.
//!
//! The rule that is tested: what was promised with 202 happens once, what was not promised happens once at most, and no cap is exceeded.

use super::{DRIP_WEI, lobby::Lobby};
use crate::{
    crash::{Dice, many_kills, status_of},
    storage::Engine,
};
use alloy_primitives::U256;
use futures_util::future::join_all;
use gateway_tests::devnet::Devnet;
use plugin_testing::{Wallet, json};
use reqwest::{RequestBuilder, StatusCode};
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// On each database. `cargo xtask kills` sets another number.
const KILLS: u64 = 5;
/// Coins and accounts that are asked for before a kill; and one relayed call.
const ASKED_PER_RUN: u64 = 3;
/// Shallower than what the gateway holds for final.
const REORG_DEPTH: u64 = 3;
/// Until everything that was promised is final.
const END: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_break_no_promise_and_give_nothing_twice() {
    kill_repeatedly(KILLS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_break_no_promise_and_give_nothing_twice() {
    kill_repeatedly(many_kills()).await;
}

async fn kill_repeatedly(kills: u64) {
    let devnet = Devnet::start().await.unwrap();
    let (dice, started) = (Dice::new(), Instant::now());
    let asked = kills * ASKED_PER_RUN;
    let adjust = |setup: gateway_tests::process::Setup| {
        // A quarter of the day's drips may be given at once: fewer than are asked for.
        let setup = setup.set("plugins.faucet.per_day", (2 * asked).to_string());
        let setup = setup.set("plugins.faucet.ip_per_day", "100000").set("plugins.faucet.pow_follows_use", "false");
        let setup = setup.set("plugins.relay.ip_per_day", "100000").set("plugins.relay.account_per_day", "100000");
        let setup = setup.set("plugins.relay.creates_per_ip", "100000").set("plugins.relay.creates_per_day", "100000");
        setup.set("limits.per_ip_per_minute", "100000").set("chains.main.reorg_depth", 8)
    };
    let mut lobbies = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        lobbies.push(Lobby::open(&devnet, engine, adjust).await);
    }
    let runs = lobbies.into_iter().zip(0..).map(|(lobby, number)| {
        let run = GiftKillRun { lobby, dice: dice.fork(number), number, asked: Vec::new() };
        run.finish(kills)
    });
    for tally in join_all(runs).await {
        eprintln!("{kills} kills in {:?}: {tally:?}", started.elapsed());
        // Runs that promise nothing, refuse nothing or lose no answer prove nothing.
        assert!(tally.promised > 0 && tally.refused > 0, "{tally:?}");
        assert!(kills < 20 || tally.without_answer > 0, "{tally:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gift {
    Coins,
    Account,
    Call,
}

/// A request, and what its client heard; `None` when the connection broke.
#[derive(Debug)]
struct GiftRequest {
    gift: Gift,
    address: String,
    answers: Vec<Option<StatusCode>>,
}

#[derive(Debug, Default)]
struct GiftCounts {
    promised: usize,
    refused: usize,
    without_answer: usize,
    /// The answer got lost, not the gift.
    given_without_answer: usize,
}

struct GiftKillRun<'n> {
    lobby: Lobby<'n>,
    dice: Dice,
    number: u64,
    asked: Vec<GiftRequest>,
}

impl GiftKillRun<'_> {
    async fn finish(mut self, kills: u64) -> GiftCounts {
        for _ in 0..kills {
            self.ask_until_killed().await;
            self.disturb_chain().await;
            self.lobby.start_again().await;
        }
        self.everything_is_final().await;
        self.compare(kills).await
    }

    /// An address that nobody had before.
    fn fresh(&self, place: u64) -> String {
        let number = 1_000_000 * (self.number + 1) + self.asked.len() as u64 + place;
        Wallet::new(number).address().to_owned()
    }

    async fn ask_until_killed(&mut self) {
        let mut requests: Vec<(Gift, String, Vec<RequestBuilder>)> = Vec::new();
        for place in 0..=2 * ASKED_PER_RUN {
            let address = self.fresh(place);
            // A client that asks twice at the same time.
            let copies = if self.dice.below(4) == 0 { 2 } else { 1 };
            let gift = match place {
                0 => Gift::Call,
                place if place <= ASKED_PER_RUN => Gift::Coins,
                _ => Gift::Account,
            };
            let mut same = Vec::new();
            for _ in 0..copies {
                same.push(match gift {
                    Gift::Coins => self.lobby.ask_for_coins(&address),
                    Gift::Account => self.lobby.ask_for_account(&address),
                    Gift::Call => self.lobby.ask_for_call(&address).await,
                });
            }
            requests.push((gift, address, same));
        }
        let answered = AtomicU64::new(0);
        let (answers, moment) =
            (self.dice.below(2 * ASKED_PER_RUN + 2), Duration::from_micros(self.dice.below(400_000)));
        let asking = join_all(requests.into_iter().map(|(gift, address, same)| {
            let answers = join_all(same.into_iter().map(|request| status_of(request, &answered)));
            async move { GiftRequest { gift, address, answers: answers.await } }
        }));
        let killed = async {
            // At the latest when so many have their answer, or none comes because the chain stands still.
            let begun = Instant::now();
            while answered.load(Relaxed) < answers && begun.elapsed() < Duration::from_secs(8) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // A random moment is what is tested.
            tokio::time::sleep(moment).await;
        };
        let gateway = &mut self.lobby.gateway;
        let (asked, ()) = tokio::join!(asking, async {
            killed.await;
            gateway.kill().await.unwrap();
        });
        self.asked.extend(asked);
    }

    async fn disturb_chain(&mut self) {
        let devnet = self.lobby.devnet;
        match self.dice.below(8) {
            // One of the runs changes the chain, which both share.
            0 | 1 if self.number == 0 => {
                let depth = 1 + self.dice.below(REORG_DEPTH);
                devnet.reorganise(depth).await.unwrap();
            }
            2 if self.number == 0 => drop(devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap()),
            3 => self.lobby.sender.send_elsewhere().await,
            blocks => devnet.mine(1 + blocks % 3).await.unwrap(),
        }
    }

    /// The gateway goes on, undisturbed, while the chain grows.
    async fn everything_is_final(&self) {
        let begun = Instant::now();
        let open = "SELECT name, state FROM host_tx_intents WHERE state NOT IN ('final', 'failed')";
        loop {
            self.lobby.devnet.mine(1).await.unwrap();
            let left = self.lobby.rows(open).await;
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < END, "{left:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn is_given(&self, asked: &GiftRequest) -> bool {
        match asked.gift {
            Gift::Coins => {
                let balance = self.lobby.balance(&asked.address).await;
                assert!(balance.is_zero() || balance == U256::from(DRIP_WEI), "{asked:?}: {balance}");
                !balance.is_zero()
            }
            Gift::Account => self.lobby.has_account(&asked.address).await,
            Gift::Call => {
                let streams = self.lobby.streams_to(&asked.address).await;
                assert!(streams <= 1, "{asked:?}: {streams} streams");
                streams == 1
            }
        }
    }

    async fn compare(self, kills: u64) -> GiftCounts {
        let (mut tally, mut drips) = (GiftCounts::default(), 0);
        let reverted: BTreeSet<String> = {
            // A call whose nonce another call took after a reorganisation.
            let rows =
                "SELECT hash FROM host_tx_intents WHERE plugin = 'relay' AND (succeeded = 0 OR state = 'failed')";
            self.lobby.rows(rows).await.into_iter().map(|row| row[0].clone()).collect()
        };
        let mut broken_calls = 0;
        for asked in &self.asked {
            let is_given = self.is_given(asked).await;
            let with = |status: StatusCode| asked.answers.iter().filter(|answer| **answer == Some(status)).count();
            let promised = with(StatusCode::ACCEPTED);
            let without_answer = asked.answers.iter().filter(|answer| answer.is_none()).count();
            let refused = asked.answers.len() - promised - with(StatusCode::OK) - without_answer;
            if promised > 0 && !is_given {
                assert_eq!(asked.gift, Gift::Call, "what was promised is given: {asked:?}");
                broken_calls += 1;
            }
            let may_be_given =
                promised + without_answer + with(StatusCode::OK) + with(StatusCode::SERVICE_UNAVAILABLE) > 0;
            assert!(!is_given || may_be_given, "who was refused gets nothing: {asked:?}");
            drips += u64::from(is_given && asked.gift == Gift::Coins);
            tally.promised += promised;
            tally.refused += refused;
            tally.without_answer += without_answer;
            tally.given_without_answer += usize::from(is_given && promised == 0);
        }
        assert!(broken_calls <= reverted.len(), "{broken_calls} calls of {reverted:?}");
        // A quarter at once, and what the passing day allows.
        let per_day = 2 * kills * ASKED_PER_RUN;
        assert!(drips <= per_day / 2 + 1, "{drips} drips of {per_day} a day");
        self.lobby.sender.is_as_the_journal_says(&self.lobby.setup).await;
        tally
    }
}

//! After any script the derived tables are those of a fresh index of the final chain, byte for byte, and the activity
//! log holds each deep enough event of it once, in order, and nothing else.

use super::{builders, close, closed, derived, moved, opened, published, started};
use plugin_testing::{Fault, ScriptedChain, ScriptedLog};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, TestRng, TestRunner},
};

/// Scripts on each database. `GATEWAY_TEST_SCRIPTS` sets another number.
const SCRIPTS: usize = 5;
const ACCOUNTS: u64 = 5;

#[derive(Clone, Debug)]
enum ScriptStep {
    Mine(Vec<LedgerCall>),
    Empty(u64),
    /// So many blocks are taken back, some of their transactions come again, in another order, and then new ones.
    Reorganise {
        depth: u64,
        again: u8,
        then: Vec<LedgerCall>,
    },
    Restart,
    Fail(usize, u8),
    Wait,
}

#[derive(Clone, Debug)]
enum LedgerCall {
    Open(u64),
    Move(u64, u128),
    Close(u64),
}

fn ledger_call() -> impl Strategy<Value = LedgerCall> {
    prop_oneof![
        2 => (0..ACCOUNTS).prop_map(LedgerCall::Open),
        6 => (0..ACCOUNTS, any::<u128>()).prop_map(|(id, amount)| LedgerCall::Move(id, amount)),
        1 => (0..ACCOUNTS).prop_map(LedgerCall::Close),
    ]
}

fn step(depth_max: u64) -> impl Strategy<Value = ScriptStep> {
    let ledger_calls = || prop::collection::vec(ledger_call(), 0..6);
    prop_oneof![
        6 => ledger_calls().prop_map(ScriptStep::Mine),
        2 => (1..30u64).prop_map(ScriptStep::Empty),
        4 => (1..=depth_max, any::<u8>(), ledger_calls()).prop_map(|(depth, again, then)| ScriptStep::Reorganise { depth, again, then }),
        1 => Just(ScriptStep::Restart),
        2 => (1..5usize, 0..5u8).prop_map(|(times, kind)| ScriptStep::Fail(times, kind)),
        4 => Just(ScriptStep::Wait),
    ]
}

/// How deep an event must be before it is public, and what happens. No reorganisation is deeper: what is public is final.
fn script() -> impl Strategy<Value = (u64, Vec<ScriptStep>)> {
    let confirmations = prop_oneof![Just(3u64), Just(64)];
    confirmations.prop_flat_map(|deep| (Just(deep), prop::collection::vec(step(deep), 5..25)))
}

fn log(ledger_call: &LedgerCall) -> ScriptedLog {
    match ledger_call {
        LedgerCall::Open(id) => opened(*id),
        LedgerCall::Move(id, amount) => moved(*id, &amount.to_string()),
        LedgerCall::Close(id) => closed(*id),
    }
}

fn play(chain: &ScriptedChain, step: &ScriptStep) {
    match step {
        ScriptStep::Mine(ledger_calls) => {
            chain.mine(ledger_calls.iter().map(log).collect());
        }
        ScriptStep::Empty(blocks) => {
            chain.mine_empty(*blocks);
        }
        ScriptStep::Reorganise { depth, again, then } => {
            let before = chain.head();
            let mut taken = chain.reorg(*depth);
            let turned = usize::from(*again) % taken.len().max(1);
            taken.rotate_left(turned);
            let come_again = taken.into_iter().enumerate().filter(|(place, _)| (*again >> (place % 8)) & 1 == 1);
            let logs = come_again.map(|(_, log)| log).chain(then.iter().map(log));
            chain.mine(logs.collect());
            // The new branch is the longer one.
            chain.mine_empty((before + 1).saturating_sub(chain.head()));
        }
        ScriptStep::Fail(times, kind) => {
            let faults = [Fault::Status(500), Fault::Garbage, Fault::DropsAnswer, Fault::NoBatches, Fault::RangeMax(2)];
            chain.fail_next(*times, faults[usize::from(*kind) % faults.len()]);
        }
        ScriptStep::Restart | ScriptStep::Wait => {}
    }
}

async fn run(deep: u64, steps: &[ScriptStep], place: usize) {
    let chain = ScriptedChain::start().await;
    chain.mine((0..ACCOUNTS).map(opened).collect());
    chain.mine_empty(70);
    let builder = builders(&chain).await.remove(place).configure(|config| {
        config.chains.get_mut("main").unwrap().confirmations = deep;
    });
    let mut gateway = started(builder, &chain).await;
    for step in steps {
        play(&chain, step);
        match step {
            ScriptStep::Restart => gateway = gateway.restart().await,
            ScriptStep::Wait => gateway.indexed(&chain).await,
            _ => tokio::task::yield_now().await,
        }
    }
    gateway.indexed(&chain).await;
    let fresh = builders(&chain).await.remove(place).configure(|config| {
        config.chains.get_mut("main").unwrap().confirmations = deep;
    });
    let fresh = started(fresh, &chain).await;
    assert_eq!(derived(&gateway).await, derived(&fresh).await, "{deep} {steps:?}");
    assert_eq!(published(&gateway).await, published(&fresh).await, "{deep} {steps:?}");
    close(fresh).await;
    close(gateway).await;
}

async fn run_all(place: usize) {
    let scripts = std::env::var("GATEWAY_TEST_SCRIPTS").ok().and_then(|text| text.parse().ok()).unwrap_or(SCRIPTS);
    let seed = std::env::var("GATEWAY_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1u8);
    let algorithm = proptest::test_runner::RngAlgorithm::ChaCha;
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(algorithm, &[seed; 32]));
    for _ in 0..scripts {
        let (deep, steps) = script().new_tree(&mut runner).unwrap().current();
        Box::pin(run(deep, &steps, place)).await;
    }
}

#[tokio::test]
async fn random_scripts_on_sqlite() {
    run_all(0).await;
}

#[tokio::test]
async fn random_scripts_on_postgres() {
    if std::env::var_os("GATEWAY_TEST_POSTGRES").is_some() {
        run_all(1).await;
    }
}

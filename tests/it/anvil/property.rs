//! Whatever happens on the way: the derived tables and the activity log are those of a fresh index of the final chain, byte
//! for byte. So nothing of an abandoned branch is public, nothing twice, and nothing is missing.

use super::{
    assert_as_anew_with, builders_with, indexed,
    script::{Stage, Step, step},
    settings,
};
use gateway_config::ChainConfig;
use gateway_tests::{devnet::Devnet, mirror};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use std::time::Duration;

/// Scripts on each database. More by `cargo xtask reorgs`.
const SCRIPTS: u64 = 4;
/// Scripts that one chain is for. After some hundred of them anvil may lack the state of a block that it shall roll back to
/// ("Required data unavailable").
const SCRIPTS_PER_CHAIN: usize = 50;

/// How deep an event must be before it is public, and what happens. No reorganisation is deeper: what is public is final.
fn script(number: u64) -> (u64, Vec<Step>) {
    let seed = variable("GATEWAY_TEST_SEED", 1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let confirmations = prop_oneof![Just(3u64), Just(64)];
    let script = confirmations.prop_flat_map(|deep| (Just(deep), prop::collection::vec(step(deep), 5..20)));
    script.new_tree(&mut runner).unwrap().current()
}

async fn run(devnet: &Devnet, number: u64, place: usize) {
    let (confirmations, steps) = script(number);
    // Every other gateway hears of new blocks by WebSocket, too.
    let ws = number.is_multiple_of(2).then(|| devnet.facts.ws_url.as_str().into());
    let settings = ChainConfig { confirmations, ws, ..settings(devnet) };
    let mut stage = Stage::open(devnet).await;
    let plugins = [mirror::module(), agents::plugin_module(), bounties::plugin_module(), economy::plugin_module()];
    let mut house = builders_with(&settings, &plugins).await.remove(place).start().await;
    for step in &steps {
        stage.play(step).await;
        match step {
            Step::Restart => house = house.restart().await,
            Step::Wait => tokio::time::sleep(Duration::from_millis(60)).await,
            _ => {}
        }
    }
    devnet.honest().await.unwrap();
    let story = format!("script {number}, public when {confirmations} deep: {steps:#?}");
    indexed(&house, devnet).await;
    assert_as_anew_with(&house, &settings, devnet, &story, &plugins).await;
    // Jobs may have missed the chain while it was away; no chain event was ever refused.
    let faults = house.faults().await;
    assert!(faults.iter().all(|fault| !fault.contains("chain event")), "{faults:?} {story}");
    house.stop().await;
    stage.close().await;
}

async fn run_all(place: usize) {
    let scripts = variable("GATEWAY_TEST_SCRIPTS", SCRIPTS);
    let numbers: Vec<u64> = (0..scripts).collect();
    for of_one_chain in numbers.chunks(SCRIPTS_PER_CHAIN) {
        let devnet = Devnet::start().await.unwrap();
        for number in of_one_chain {
            Box::pin(run(&devnet, *number, place)).await;
            if number % 25 == 24 {
                println!("{} of {scripts} scripts", number + 1);
            }
        }
    }
}

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
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

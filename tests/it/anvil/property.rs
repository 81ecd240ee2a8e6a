//! After any script the derived tables are those of a fresh index of the final chain, byte for byte. So are the events of the
//! activity log that are not retracted, of all plugins in one order: nothing of an abandoned branch is public, nothing twice, and
//! nothing is missing.

use super::{
    builders_with, derived_by, fresh_index, indexed, published,
    script::{ScriptStep, ScriptedNode, step},
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

/// Blocks that the index can undo.
const REORG_DEPTH: u64 = 64;

/// What happens on one chain.
#[derive(Debug)]
struct Scenario {
    number: u64,
    /// How deep an event must be before it is public.
    confirmations: u64,
    steps: Vec<ScriptStep>,
}

impl Scenario {
    fn new(number: u64) -> Self {
        let seed = variable("GATEWAY_TEST_SEED", 1);
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        // Every fourth script removes public blocks, down to the depth that the index can undo.
        let (confirmations, depth_max) = match number % 4 {
            0 | 2 => (3, 3),
            1 => (3, REORG_DEPTH),
            _ => (REORG_DEPTH, REORG_DEPTH),
        };
        let steps = prop::collection::vec(step(depth_max), 5..20).new_tree(&mut runner).unwrap().current();
        Self { number, confirmations, steps }
    }

    /// Whether an event that was public may be gone.
    fn takes_back_public_blocks(&self) -> bool {
        self.steps.iter().any(|step| step.reorganises_deeper_than(self.confirmations))
    }
}

async fn run(devnet: &Devnet, scenario: &Scenario, place: usize) {
    let Scenario { number, confirmations, ref steps } = *scenario;
    // Half of the gateways hear of new blocks by WebSocket, too.
    let ws = (number / 2).is_multiple_of(2).then(|| devnet.facts.ws_url.as_str().into());
    let settings = ChainConfig { confirmations, ws, ..settings(devnet) };
    let mut node = ScriptedNode::open(devnet).await;
    let plugins = [mirror::module(), agents::plugin_module(), bounties::plugin_module(), economy::plugin_module()];
    let mut gateway = builders_with(&settings, &plugins).await.remove(place).start().await;
    for step in steps {
        node.play(step).await;
        match step {
            ScriptStep::Restart => gateway = gateway.restart().await,
            // Whether the index gets that far is open (the server may be failing), and both are tested: so this waits
            // for a time.
            ScriptStep::Wait => tokio::time::sleep(Duration::from_millis(60)).await,
            _ => {}
        }
    }
    devnet.honest().await.unwrap();
    indexed(&gateway, devnet).await;
    let name = format!("{scenario:#?}");
    let fresh = fresh_index(&gateway, &settings, devnet, &plugins).await;
    assert_eq!(derived_by(&gateway, &plugins).await, derived_by(&fresh, &plugins).await, "{name}");
    assert_eq!(published(&gateway).await, published(&fresh).await, "{name}");
    fresh.stop().await;
    // Jobs may have missed the chain while it was away; no chain event was ever refused.
    let faults = gateway.faults().await;
    assert!(faults.iter().all(|fault| !fault.contains("chain event")), "{faults:?} {name}");
    gateway.stop().await;
    node.close().await;
}

async fn run_all(place: usize) {
    let scripts = variable("GATEWAY_TEST_SCRIPTS", SCRIPTS);
    let numbers: Vec<u64> = (0..scripts).collect();
    for of_one_chain in numbers.chunks(SCRIPTS_PER_CHAIN) {
        let devnet = Devnet::start().await.unwrap();
        for number in of_one_chain {
            Box::pin(run(&devnet, &Scenario::new(*number), place)).await;
            if number % 25 == 24 {
                println!("{} of {scripts} scripts", number + 1);
            }
        }
    }
}

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn scenarios_reach_below_what_is_public() {
    let scenarios: Vec<Scenario> = (0..SCRIPTS).map(Scenario::new).collect();
    assert!(scenarios.iter().any(Scenario::takes_back_public_blocks), "{scenarios:#?}");
    assert!(!scenarios.iter().all(Scenario::takes_back_public_blocks), "{scenarios:#?}");
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

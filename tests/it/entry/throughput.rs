//! How many of the gateway's transactions get into blocks of one second, with its caps raised. What is printed is a figure, not a
//! limit; that each promised drip is sent once is asserted.

use super::lobby::Lobby;
use crate::storage::Engine;
use futures_util::{StreamExt as _, stream};
use gateway_tests::{devnet::Devnet, process::Setup};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::{Duration, Instant};

/// Clients that ask for coins, each again as soon as it has its answer.
const CLIENTS: usize = 48;
const IN_FLIGHT_MAX: usize = 64;
const DRIP_WEI: u64 = 1_000_000_000;
/// Until everything that was promised is in a block.
const END: Duration = Duration::from_secs(120);

fn without_caps(setup: Setup) -> Setup {
    setup
        .set("plugins.faucet.drip_wei", format!("\"{DRIP_WEI}\""))
        .set("plugins.faucet.per_day", 1_000_000)
        .set("plugins.faucet.ip_per_day", 1_000_000)
        .set("plugins.faucet.pow_follows_use", false)
        .set("limits.per_ip_per_minute", 1_000_000)
        .set("tx.in_flight_max", IN_FLIGHT_MAX)
        // As in operation: nothing is sent again while its block is on its way.
        .set("tx.resend_ms", 8000)
}

async fn mined(lobby: &Lobby<'_>, relayer: &str) -> u64 {
    lobby.devnet.number("eth_getTransactionCount", json!([relayer, "latest"])).await.unwrap().to()
}

async fn send_for(duration: Duration, engine: Engine) {
    let devnet = Devnet::start_with(&["--block-time", "1"]).await.unwrap();
    let lobby = Lobby::open(&devnet, engine, without_caps).await;
    let relayer = devnet.account(if engine == Engine::Sqlite { "relayer" } else { "facilitator" }).unwrap();
    let (begun, before) = (Instant::now(), mined(&lobby, relayer).await);
    let answers: Vec<(String, u16)> = stream::iter(1_000_000_u64..)
        .take_while(|_| std::future::ready(begun.elapsed() < duration))
        .map(async |number| {
            let address = Wallet::new(number).address().to_owned();
            let answer = lobby.ask_for_coins(&address).send().await.unwrap();
            (address, answer.status().as_u16())
        })
        .buffer_unordered(CLIENTS)
        .collect()
        .await;
    let (took, mined_in_time) = (begun.elapsed(), mined(&lobby, relayer).await - before);
    let promised: Vec<&String> =
        answers.iter().filter(|(_, status)| *status == 202).map(|(address, _)| address).collect();
    let per_minute = mined_in_time as f64 * 60.0 / took.as_secs_f64();
    println!(
        "{engine:?}: {mined_in_time} intents mined in {took:?}, that is {per_minute:.0} a minute; {} of {} drips were promised",
        promised.len(),
        answers.len()
    );
    let open = "SELECT name FROM host_tx_intents WHERE state NOT IN ('included', 'final')";
    TestGateway::eventually(END, "all is in a block", async || lobby.rows(open).await.is_empty()).await;
    assert!(!promised.is_empty());
    for address in &promised {
        assert_eq!(lobby.balance(address).await, alloy_primitives::U256::from(DRIP_WEI), "{address}");
    }
    // Who was refused may have got his drip all the same, but nobody got two.
    let sent = lobby.rows("SELECT name FROM host_tx_intents").await.len();
    assert_eq!(usize::try_from(mined(&lobby, relayer).await - before).unwrap(), sent);
    assert!((promised.len()..=answers.len()).contains(&sent), "{sent} of {}", answers.len());
    lobby.sender.is_as_the_journal_says(&lobby.setup).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn intents_get_into_blocks_of_a_second_once_each() {
    send_for(Duration::from_secs(4), Engine::Sqlite).await;
}

#[rstest::rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask prove"]
async fn intents_of_a_minute(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    send_for(Duration::from_secs(60), engine).await;
}

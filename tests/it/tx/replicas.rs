//! Two gateways on one database, one key.

use super::{DEPTH, MINUTE, ask, assert_paid_once, becomes, builders, pay, payment, prepared, relayer, until, waits};
use plugin_api::chain::TxState;
use plugin_testing::{Fault, ScriptedChain, TestGateway, json};
use std::time::Duration;

/// Two gateways on one PostgreSQL database, each with a server of its own; nothing without PostgreSQL.
async fn pair(chain: &ScriptedChain, second: &ScriptedChain) -> Option<[TestGateway; 2]> {
    let one = builders(chain).await.into_iter().nth(1)?.start().await;
    let url = one.gateway().config.database.url.clone();
    let other = prepared(TestGateway::builder(), second).configure(|config| config.database.url = url);
    Some([one, other.start().await])
}

#[tokio::test]
async fn two_gateways_with_one_key_send_each_payment_once() {
    let chain = ScriptedChain::start().await;
    let Some([one, other]) = pair(&chain, &chain).await else { return };
    for number in 1..=40 {
        pay(if number % 2 == 0 { &one } else { &other }, payment(number)).await;
        if number % 8 == 0 {
            chain.mine(Vec::new());
        }
    }
    until(async || {
        chain.mine(Vec::new());
        chain.mined().len() == 40
    })
    .await;
    chain.mine_empty(DEPTH + 1);
    for number in 1..=40u8 {
        becomes(&other, &number.to_string(), TxState::Final).await;
    }
    assert_paid_once(&chain, 1..=40);
    other.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn a_gateway_whose_servers_are_away_leaves_the_key_to_the_other() {
    let chain = ScriptedChain::start().await;
    let second = chain.another_server().await;
    let Some([one, other]) = pair(&chain, &second).await else { return };
    chain.hold(true);
    pay(&one, payment(1)).await;
    waits(&chain, 1).await;
    chain.fail_always(Some(Fault::Status(503)));
    pay(&other, payment(2)).await;
    waits(&chain, 2).await;
    chain.hold(false);
    chain.mine_empty(DEPTH + 1);
    becomes(&other, "1", TxState::Final).await;
    becomes(&other, "2", TxState::Final).await;
    assert_paid_once(&chain, [1, 2]);
    other.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn a_gateway_whose_clock_is_ahead_takes_no_lease_that_another_holds() {
    let chain = ScriptedChain::start().await;
    let Some(gateways) = pair(&chain, &chain).await else { return };
    chain.hold(true);
    pay(&gateways[0], payment(1)).await;
    waits(&chain, 1).await;
    let holder = async || gateways[0].rows("SELECT holder FROM host_tx_lanes").await;
    let before = holder().await;
    for gateway in &gateways {
        let name = format!("Text({:?})", gateway.gateway().database.instance_id());
        if before != [name] {
            gateway.clock().advance(Duration::from_secs(3600)).await;
        }
    }
    // Both look at the account several times meanwhile.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(holder().await, before);
    for gateway in gateways {
        gateway.stop().await;
    }
}

/// A queue that is blocked keeps no wallets waiting, on either gateway: the one that does not hold its lease knows it from the other.
#[tokio::test]
async fn both_gateways_know_that_a_queue_is_blocked() {
    let chain = ScriptedChain::start().await;
    let second = chain.another_server().await;
    let Some([one, other]) = pair(&chain, &second).await else { return };
    chain.set_balance(relayer(), "0");
    second.fail_always(Some(Fault::Status(503)));
    pay(&other, payment(1)).await;
    let waiting = async |gateway: &TestGateway| ask(gateway, "waiting", &json!("relayer")).await;
    let becomes_zero = async |gateway: &TestGateway| {
        let is_zero = async || waiting(gateway).await == json!(0);
        let in_time = tokio::time::timeout(MINUTE, until(is_zero)).await;
        assert!(in_time.is_ok(), "it is {}", waiting(gateway).await);
    };
    let is_blocked = async || ask(&one, "nonce-queue", &json!("relayer")).await["reason"].is_string();
    until(is_blocked).await;
    becomes_zero(&one).await;
    becomes_zero(&other).await;
    second.fail_always(None);
    becomes_zero(&other).await;

    // Then it goes first again.
    chain.hold(true);
    chain.set_balance(relayer(), super::RICH);
    waits(&chain, 1).await;
    until(async || waiting(&one).await == json!(1)).await;
    other.stop().await;
    one.stop().await;
}

/// Its row, and the holder of its leases: whoever reads the tables finds which gateway it is.
#[tokio::test]
async fn a_gateway_has_one_name_in_the_database() {
    let chain = ScriptedChain::start().await;
    let Some(builder) = builders(&chain).await.into_iter().nth(1) else { return };
    let gateway = builder.start().await;
    chain.hold(true);
    pay(&gateway, payment(1)).await;
    waits(&chain, 1).await;
    let names = "SELECT instance FROM host_gateways UNION ALL SELECT holder FROM host_tx_lanes \
         UNION ALL SELECT holder FROM host_activity_sequencer";
    let name = format!("Text({:?})", gateway.gateway().database.instance_id());
    assert_eq!(gateway.rows(names).await, vec![name; 3]);
    gateway.stop().await;
}

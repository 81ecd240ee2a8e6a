//! Two gateways on one database, one key.

use super::{DEPTH, assert_paid_once, becomes, builders, pay, payment, prepared, until, waits};
use plugin_api::chain::TxState;
use plugin_testing::{Fault, ScriptedChain, TestGateway};

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

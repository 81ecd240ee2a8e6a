//! Several gateways on one database: one indexes, another takes over.

use super::{builders, close, derived, derived_anew, ledger, moved, opened, published};
use crate::chain::ledger::BANK;
use gateway_indexer::IndexState;
use plugin_testing::{ScriptedChain, TestGateway};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Two gateways on one PostgreSQL database, of which the first indexes; nothing without a server.
async fn pair(chain: &ScriptedChain) -> Option<[TestGateway; 2]> {
    let one = builders(chain).await.into_iter().nth(1)?.start().await;
    // The first to claim the lease indexes; that may be the second gateway.
    one.indexed(chain).await;
    let url = one.gateway().config.database.url.clone();
    let other = TestGateway::builder().plugin(ledger::module()).chain(chain, &[BANK]);
    Some([one, other.configure(|config| config.database.url = url).start().await])
}

fn state(gateway: &TestGateway) -> Option<IndexState> {
    gateway.gateway().indexes.reports().first().map(|report| report.state)
}

#[tokio::test]
async fn one_gateway_indexes_and_the_other_takes_over_when_it_stops() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    (0..150).for_each(|_| {
        chain.mine(vec![moved(1, "2")]);
    });
    let Some([one, other]) = pair(&chain).await else { return };
    TestGateway::eventually(MINUTE, "the other one waits", || async { state(&other) == Some(IndexState::Elsewhere) })
        .await;
    let blocks = |gateway: &TestGateway| gateway.gateway().indexes.indexed_block();
    TestGateway::eventually(MINUTE, "it knows how far the index is", || async { blocks(&other) == Some(chain.head()) })
        .await;
    chain.mine(vec![moved(1, "3")]);
    one.indexed(&chain).await;
    // Its database stays until the other one is done with it.
    one.gateway().plugins.stop().await;
    chain.reorg(2);
    chain.mine(vec![moved(1, "5")]);
    chain.mine_empty(4);
    other.indexed(&chain).await;
    assert_eq!(derived(&other).await, derived_anew(&one, &chain).await);
    assert_eq!(published(&other).await.len(), 150);
    close(other).await;
    one.stop().await;
}

#[tokio::test]
async fn a_gateway_that_died_keeps_the_others_waiting_for_its_lease_only() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    let Some([one, other]) = pair(&chain).await else { return };
    one.gateway().plugins.stop().await;
    other.indexed(&chain).await;
    // Another gateway holds the lease and does not respond any more.
    let until = format!("{} + 9000", other.gateway().database.dialect().now_ms());
    other.execute(&format!("UPDATE host_chain_index SET holder = 'dead', lease_until_ms = {until}")).await;
    TestGateway::eventually(MINUTE, "it has lost the lease", || async { state(&other) == Some(IndexState::Elsewhere) })
        .await;
    chain.mine(vec![moved(1, "1")]);
    // It goes by the database's clock, not by that of a gateway.
    other.clock().advance(Duration::from_secs(3600)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(state(&other), Some(IndexState::Elsewhere));
    other.indexed(&chain).await;
    assert_eq!(other.rows("SELECT moves FROM ledger_accounts").await, ["Int(1)"]);
    close(other).await;
    one.stop().await;
}

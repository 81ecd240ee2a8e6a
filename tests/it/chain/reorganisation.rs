//! Reorganisations: the index undoes what the chain removed.

use super::{assert_as_anew, builders, close, closed, derived, moved, opened, started};
use plugin_testing::{ScriptedChain, TestGateway};
use std::time::Duration;

/// Three accounts with some history, deeper than any reorganisation here.
async fn with_history() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), opened(2), opened(3), moved(1, "100"), moved(2, "200")]);
    chain.mine_empty(70);
    chain
}

#[tokio::test]
async fn rows_become_what_they_were_before_the_branch() {
    let chain = with_history().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let before = derived(&gateway).await;
        chain.mine(vec![moved(1, "1"), closed(2), opened(4)]);
        chain.mine(vec![moved(1, "2"), opened(2), closed(3), moved(4, "9"), closed(4)]);
        gateway.indexed(&chain).await;
        assert_ne!(derived(&gateway).await, before);
        chain.reorg(2);
        chain.mine_empty(3);
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, before);
        chain.reorg(3);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_transaction_that_comes_back_at_another_place_counts_once() {
    let chain = with_history().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let again = moved(1, "7").in_transaction("mine");
        chain.mine(vec![moved(2, "1"), again.clone()]);
        gateway.indexed(&chain).await;
        chain.reorg(1);
        chain.mine_empty(1);
        chain.mine(vec![again]);
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        assert_eq!(gateway.rows("SELECT balance FROM ledger_accounts WHERE id = 1").await, ["Text(\"107\")"]);
        chain.reorg(2);
        close(gateway).await;
    }
}

#[tokio::test]
async fn the_deepest_allowed_reorganisation_is_undone_and_a_deeper_one_stops_the_index() {
    let chain = with_history().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(3, "5")]);
        chain.mine_empty(63);
        gateway.indexed(&chain).await;
        chain.reorg(64);
        chain.mine_empty(65);
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;

        let before = derived(&gateway).await;
        chain.reorg(70);
        chain.mine(vec![closed(1)]);
        chain.mine_empty(80);
        stopped(&gateway).await;
        assert_eq!(derived(&gateway).await, before, "nothing is guessed");
        let status = gateway.get("/api/status").await.json();
        let detail = status["services"]["indexer"]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("ledger is stopped") && detail.contains("reorg_depth"), "{status}");
        let gateway = gateway.restart().await;
        stopped(&gateway).await;

        let outcome = gateway
            .gateway()
            .plugins
            .operate(gateway::lifecycle::OperatorAction::Reindex, "ledger", "test")
            .await
            .unwrap();
        assert!(outcome.is_reached, "{outcome:?}");
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        assert_ne!(derived(&gateway).await, before);
        chain.reorg(81);
        chain.mine_empty(6);
        close(gateway).await;
    }
}

async fn stopped(gateway: &TestGateway) {
    TestGateway::eventually(Duration::from_secs(60), "the index stops", || async {
        let reports = gateway.gateway().indexes.reports();
        reports.iter().any(|report| report.state == gateway_indexer::IndexState::Stopped)
    })
    .await;
}

#[tokio::test]
async fn a_chain_that_is_shorter_than_the_window_can_be_replaced_whole() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), moved(1, "1")]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.reorg(1);
        chain.mine(vec![opened(5)]);
        chain.mine(vec![moved(5, "3")]);
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_reorganisation_while_the_gateway_is_off_is_found() {
    let chain = with_history().await;
    for builder in builders(&chain).await {
        let gateway = builder.start().await;
        chain.mine(vec![moved(1, "50"), closed(2)]);
        gateway.indexed(&chain).await;
        let reopened = gateway.restart_after(|_| {
            chain.reorg(1);
            chain.mine(vec![moved(2, "60")]);
        });
        let gateway = reopened.await;
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        chain.reorg(1);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_branch_that_was_buried_deep_while_the_gateway_was_off_is_undone() {
    let chain = with_history().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(1, "50"), closed(2)]);
        gateway.indexed(&chain).await;
        let reopened = gateway.restart_after(|_| {
            chain.reorg(1);
            chain.mine(vec![moved(2, "60")]);
            chain.mine_empty(100);
        });
        let gateway = reopened.await;
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        let amounts: Vec<_> = gateway.events().await.into_iter().map(|event| event.data["amount"].clone()).collect();
        assert_eq!(amounts, ["100", "200", "60"], "what the branch held back was never public");
        chain.reorg(101);
        close(gateway).await;
    }
}

#[tokio::test]
async fn what_was_held_back_becomes_public_before_what_came_while_the_gateway_was_off() {
    let chain = with_history().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(1, "50")]);
        gateway.indexed(&chain).await;
        let reopened = gateway.restart_after(|_| {
            chain.mine(vec![moved(2, "60")]);
            chain.mine_empty(100);
        });
        let gateway = reopened.await;
        gateway.indexed(&chain).await;
        let amounts: Vec<_> = gateway.events().await.into_iter().map(|event| event.data["amount"].clone()).collect();
        assert_eq!(amounts, ["100", "200", "50", "60"]);
        chain.reorg(102);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_young_chain_of_which_nothing_remains_is_indexed_anew() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), moved(1, "1")]);
    for builder in builders(&chain).await {
        let builder = builder.configure(|config| config.chains.get_mut("main").unwrap().deploy_block = Some(1));
        let gateway = started(builder, &chain).await;
        chain.reorg(1);
        chain.mine(vec![opened(5)]);
        chain.mine(vec![moved(5, "3")]);
        gateway.indexed(&chain).await;
        assert_as_anew(&gateway, &chain).await;
        chain.reorg(1);
        close(gateway).await;
    }
}

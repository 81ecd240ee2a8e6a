//! The index from the first block to the head, and then following it.

use super::{builders, close, closed, derived, ledger, moved, opened, published, reset_steps::MORE_ACCOUNTS, started};
use crate::chain::ledger::BANK;
use gateway::lifecycle::OperatorAction;
use plugin_testing::{Fault, ScriptedChain, TestGateway};
use std::time::Duration;

/// `blocks` blocks, each with a move of one of ten accounts.
fn busy(chain: &ScriptedChain, blocks: u64) {
    chain.mine((0..10).map(opened).collect());
    (0..blocks).for_each(|block| {
        chain.mine(vec![moved(block % 10, "1000000000000000000"), moved(block % 7, "1")]);
    });
}

#[tokio::test]
async fn every_event_is_applied_once_in_its_order() {
    let chain = ScriptedChain::start().await;
    busy(&chain, 300);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        assert_eq!(gateway.rows("SELECT count(*), max(block) FROM ledger_moves").await, ["Int(600) Int(301)"]);
        assert_eq!(gateway.rows("SELECT cast(sum(moves) as bigint) FROM ledger_accounts").await, ["Int(600)"]);
        let name = gateway.rows("SELECT name FROM ledger_accounts WHERE id = 3").await.remove(0);
        assert!(name.contains("account 3 \u{fffd} ä😀"), "a NUL from a stranger stops no index: {name}");

        let head = chain.mine(vec![moved(1, "5"), opened(77)]);
        gateway.indexed(&chain).await;
        assert_eq!(gateway.rows("SELECT count(*) FROM ledger_moves").await, ["Int(601)"]);
        let health = gateway.get("/api/health").await.json();
        assert_eq!((health["head"].as_u64(), health["indexedBlock"].as_u64()), (Some(head), Some(head)));
        let status = gateway.get("/api/status").await.json();
        assert_eq!(status["headLag"], 0, "{status}");
        assert_eq!(status["services"]["indexer"]["ok"], true, "{status}");
        assert_eq!(status["services"]["indexer"]["indexes"][0]["state"], "following");
        assert_eq!(status["degraded"], plugin_testing::json!([]), "{status}");
        chain.reorg(1);
        close(gateway).await;
    }
}

/// More rows than one transaction deletes, so the reset takes several, and the gateway may end between them.
#[tokio::test]
async fn an_index_of_many_rows_begins_anew() {
    let chain = ScriptedChain::start().await;
    chain.mine((40_000..40_250).map(opened).collect());
    // Rows that the reset forgets would count these twice.
    chain.mine((40_000..40_250).map(|id| moved(id, "1")).collect());
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let before = derived(&gateway).await;
        gateway.gateway().database.execute_batch(MORE_ACCOUNTS).await.unwrap();
        gateway.gateway().plugins.operate(OperatorAction::Reindex, "ledger", "test").await.unwrap();
        let gateway = gateway.restart().await.restart().await;
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, before);
        close(gateway).await;
    }
}

/// More events than a plugin holds back before it writes: the next ones are derived while the first are written.
#[tokio::test]
async fn a_block_of_many_events_is_written_in_their_order() {
    let chain = ScriptedChain::start().await;
    let events = |id: u64| match id % 3 {
        0 => vec![opened(id), moved(id, "1"), closed(id), opened(id)],
        1 => vec![opened(id), moved(id, "2"), moved(id, "3"), opened(id)],
        _ => vec![closed(id), moved(id, "4"), opened(id), closed(id)],
    };
    chain.mine((0..99).flat_map(events).collect());
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let accounts = "SELECT id % 3, balance, moves, count(*) FROM ledger_accounts GROUP BY 1, 2, 3 ORDER BY 1";
        let expected = ["Int(0) Text(\"0\") Int(0) Int(33)", "Int(1) Text(\"5\") Int(2) Int(33)"];
        assert_eq!(gateway.rows(accounts).await, expected);
        assert_eq!(gateway.rows("SELECT count(*) FROM ledger_moves").await, ["Int(66)"]);
        close(gateway).await;
    }
}

/// More than the plugin may be ahead of the database.
#[tokio::test]
async fn events_that_wait_for_the_database_are_all_written() {
    let chain = ScriptedChain::start().await;
    chain.mine((1_000..4_000).map(opened).collect());
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let accounts = "SELECT count(*), min(id), max(id) FROM ledger_accounts";
        assert_eq!(gateway.rows(accounts).await, ["Int(3000) Int(1000) Int(3999)"]);
        close(gateway).await;
    }
}

#[tokio::test]
async fn the_answer_is_the_same_however_small_the_questions_must_be() {
    let chain = ScriptedChain::start().await;
    busy(&chain, 60);
    let mut seen = Vec::new();
    for fault in
        [None, Some(Fault::RangeMax(7)), Some(Fault::RangeMax(1)), Some(Fault::RangeMax(0)), Some(Fault::NoBatches)]
    {
        chain.fail_always(fault);
        for builder in builders(&chain).await {
            let gateway = started(builder, &chain).await;
            seen.push(derived(&gateway).await);
            close(gateway).await;
        }
    }
    assert!(seen[0].contains("account 3") && seen.iter().all(|text| *text == seen[0]));
}

#[tokio::test]
async fn stopping_at_any_point_and_starting_again_is_safe() {
    let chain = ScriptedChain::start().await;
    busy(&chain, 200);
    let expected = {
        let gateway = started(builders(&chain).await.remove(0), &chain).await;
        let derived = derived(&gateway).await;
        close(gateway).await;
        derived
    };
    for builder in builders(&chain).await {
        let small_steps = builder.configure(|config| {
            config.chains.get_mut("main").unwrap().range_blocks_max = 10;
        });
        let mut gateway = small_steps.start().await;
        for round in 0..8 {
            // Another time in each round, so that the restart hits another step of the index.
            tokio::time::sleep(Duration::from_millis(round * 7)).await;
            gateway = gateway.restart().await;
        }
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, expected);
        let events = published(&gateway).await;
        assert!(events.is_sorted_by_key(|(block, _)| *block), "in order");
        assert_eq!(events.len(), 400 - 2 * 3, "all but those of the last three blocks");
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_plugin_without_chain_or_contract_serves_and_says_so() {
    for gateway in TestGateway::each_database(&[ledger::module()]).await {
        let status = gateway.get("/api/status").await.json();
        assert_eq!(status["services"]["rpc"]["enabled"], false, "{status}");
        assert!(status["services"]["rpc"]["detail"].as_str().unwrap_or_default().contains("[chains.main]"));
        assert_eq!(gateway.get("/api/health").await.json()["head"], -1);
        close(gateway).await;
    }
    let chain = ScriptedChain::start().await;
    let gateway = TestGateway::builder().plugin(ledger::module()).chain(&chain, &["other"]).start().await;
    TestGateway::eventually(Duration::from_secs(60), "it says why", || async {
        let reports = gateway.gateway().indexes.reports();
        reports.iter().any(|report| report.reason.as_deref() == Some("none of its contracts is deployed"))
    })
    .await;
    close(gateway).await;
}

#[tokio::test]
async fn an_index_begins_anew_when_what_it_follows_is_another_contract() {
    let chain = ScriptedChain::start().await;
    busy(&chain, 100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        assert_ne!(derived(&gateway).await, "");
        let moved_on = gateway.restart_after(|config| {
            let main = config.chains.get_mut("main").unwrap();
            main.contracts.insert(BANK.to_owned(), ScriptedChain::address_of("another"));
        });
        let gateway = moved_on.await;
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, "", "the other contract has no events");
        close(gateway).await;
    }
}

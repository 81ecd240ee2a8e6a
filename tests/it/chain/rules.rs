//! What plugins may and may not do with derived rows.

use super::{
    builders, close, derived,
    ledger::{CLASHING, HANGING, HANGS, IMPOSTOR, REFUSALS, SLOW, TRESPASSER},
    moved, opened, started,
};
use gateway_plugins::polls::ThreadWatchdog;
use plugin_testing::{ScriptedChain, TestGateway, Value};
use rstest::rstest;
use std::{sync::atomic::Ordering::SeqCst, time::Duration};

/// Of the watchdog's clock.
const TICK: Duration = Duration::from_millis(20);

#[tokio::test]
async fn only_chain_events_write_derived_tables() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let before = derived(&gateway).await;
        let said = contribution(&gateway, "write_derived").await;
        assert!(said.contains("derived from the chain: only chain events write it"), "{said}");
        assert_eq!(derived(&gateway).await, before);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_chain_event_writes_derived_tables_only() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![opened(1), opened(TRESPASSER.unsigned_abs())]);
        let reason = fails(&gateway).await;
        assert!(reason.contains("the event Opened in block") && reason.contains("ledger_notes is none"), "{reason}");
        assert_eq!(derived(&gateway).await, "", "the batch left no trace");
        chain.reorg(1);
        chain.mine(vec![opened(1)]);
        gateway.indexed(&chain).await;
        assert_ne!(derived(&gateway).await, "", "it heals with the next branch");
        chain.reorg(1);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_chain_event_publishes_declared_types_only() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![opened(1), moved(1, "1"), opened(IMPOSTOR.unsigned_abs())]);
        let reason = fails(&gateway).await;
        assert!(reason.contains("does not declare that it publishes \"ledger.opened\""), "{reason}");
        assert_eq!(derived(&gateway).await, "", "the batch left no trace");
        chain.reorg(1);
        chain.mine(vec![opened(1)]);
        gateway.indexed(&chain).await;
        assert_ne!(derived(&gateway).await, "", "it heals with the next branch");
        chain.reorg(1);
        gateway.stop().await;
    }
}

/// The statement fails after the plugin has begun a later event, or has handled the last one.
#[rstest]
#[case(300)]
#[case(599)]
#[tokio::test]
async fn an_event_whose_deferred_statement_fails_is_named(#[case] clashing: u64) {
    let chain = ScriptedChain::start().await;
    let account = |id| if id == clashing { CLASHING.unsigned_abs() } else { id };
    let block = chain.mine((0..600).map(account).map(opened).collect());
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = builder.start().await;
        let named = format!("the event Opened in block {block}");
        TestGateway::eventually(Duration::from_secs(60), "the index names it", || async {
            fails(&gateway).await.contains(&named)
        })
        .await;
        assert_eq!(gateway.faults().await.len(), 1, "and the operator reads of it");
        assert_eq!(derived(&gateway).await, "", "the batch left no trace");
        gateway.stop().await;
    }
}

/// Anyone can fill a block with events. The index takes longer for it than a transaction usually may, and blames no plugin.
#[tokio::test]
async fn a_block_of_very_many_events_gets_the_time_that_it_needs() {
    let chain = ScriptedChain::start().await;
    let block = chain.mine(SLOW.map(opened).collect());
    for builder in builders(&chain).await {
        let builder = builder.configure(|config| {
            (config.database.statement_timeout_ms, config.database.transaction_timeout_ms) = (400, 400);
        });
        let gateway = builder.start().await;
        let reason = fails(&gateway).await;
        let named = format!("block {block} has {} events", SLOW.count());
        assert!(reason.contains(&named) && reason.contains("raise"), "{reason}");
        gateway.indexed(&chain).await;
        assert_eq!(gateway.rows("SELECT count(*) FROM ledger_accounts").await, [format!("Int({})", SLOW.count())]);
        close(gateway).await;
    }
}

/// The watchdog counts how long the process could run. When it ran as little as the handler, the handler hung for no fault of its own.
#[rstest]
#[case::and_so_did_the_process(false, "processor time")]
#[case::while_the_process_ran(true, "not applied within 4s")]
#[tokio::test]
async fn an_event_exceeds_its_time(#[case] is_running: bool, #[case] reason: &str) {
    let chain = ScriptedChain::start().await;
    let gateway = started(builders(&chain).await.remove(0), &chain).await;
    let mut watchdog = ThreadWatchdog::new(TICK);
    let ticks = tokio::spawn(async move {
        loop {
            tokio::time::sleep(TICK).await;
            if is_running {
                watchdog.look();
            }
        }
    });
    HANGS.store(1, SeqCst);
    chain.mine(vec![opened(HANGING)]);
    let failure = fails(&gateway).await;
    assert!(failure.contains(reason), "{failure}");
    assert_eq!(gateway.faults().await.len(), usize::from(is_running));
    gateway.indexed(&chain).await;
    assert_eq!(gateway.rows("SELECT count(*) FROM ledger_accounts").await, ["Int(1)"], "it is tried again");
    ticks.abort();
    gateway.stop().await;
}

#[tokio::test]
async fn an_event_that_cannot_be_applied_is_tried_again_and_nothing_is_skipped() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        REFUSALS.store(2, SeqCst);
        chain.mine(vec![opened(1), moved(1, "3"), moved(1, "4")]);
        gateway.indexed(&chain).await;
        assert_eq!(gateway.rows("SELECT balance, moves FROM ledger_accounts").await, ["Text(\"7\") Int(2)"]);
        assert!(gateway.faults().await[0].contains("not now"), "and the operator reads of it");
        chain.reorg(1);
        gateway.stop().await;
    }
}

/// Waits until the index says what is wrong.
pub async fn fails(gateway: &TestGateway) -> String {
    let reason = || {
        let reports = gateway.gateway().indexes.reports();
        let failing = reports.into_iter().find(|report| report.state == gateway_indexer::IndexState::Failing);
        failing.and_then(|report| report.reason)
    };
    TestGateway::eventually(Duration::from_secs(60), "the index says what fails", || async { reason().is_some() })
        .await;
    reason().unwrap_or_default()
}

pub async fn contribution(gateway: &TestGateway, point: &str) -> String {
    let answers = gateway.gateway().extension_points.collect(point, &b"null"[..]).await;
    answers
        .into_iter()
        .map(|answer| match serde_json::from_str(answer.value.get()).unwrap() {
            Value::String(text) => text,
            other => other.to_string(),
        })
        .collect()
}

//! A plugin that follows the activity log: every event once and in order, whatever fails in between.

use crate::chain::{builders, moved, opened, started};
use gateway::lifecycle::OperatorAction;
use plugin_api::{
    ConfigError, Created, Definition, HandlerError, HostError, HostErrorCode, HostHandle, JsonBody, JsonSchema,
    Migration, NoConfig, Plugin, PluginContext, RequestContext, Route, abi::PluginModule_Ref, handles::LogEvents,
    host::Identity, sql, stream::EventBuilder,
};
use plugin_testing::{ScriptedChain, TestGateway, json};
use serde::Deserialize;
use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

const SAID: &str = "follower.said";
const WHISPERED: &str = "follower.whispered";
const LIMIT: Duration = Duration::from_secs(20);

#[derive(Default)]
struct LogFollower {
    batches: AtomicU32,
}

impl Identity for LogFollower {
    const NAME: &'static str = "follower";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Writes down what it hears";
}

impl Plugin for LogFollower {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([Route::post("/api/follower/words", say).public()])
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE follower_heard (number {{id}}, event BIGINT NOT NULL, word TEXT NOT NULL)",
            )])
            .publishes(&[SAID, WHISPERED])
            .on_events("hear", &[SAID, "ledger.moved"], hear)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Words {
    words: Vec<String>,
}

async fn say(
    cx: RequestContext<LogFollower>,
    JsonBody(Words { words }): JsonBody<Words>,
) -> Result<Created<usize>, HandlerError> {
    let count = words.len();
    cx.write(async move |tx| {
        for word in &words {
            let kind = if word.starts_with('(') { WHISPERED } else { SAID };
            EventBuilder::new(kind, &json!({ "word": word })).publish(tx)?;
        }
        // A transaction that only publishes.
        Ok(())
    })
    .await?;
    Ok(Created(count))
}

/// Fails every second time, after its rows are written, and forgets `mark_done` where the word says so.
async fn hear(cx: PluginContext<LogFollower>, events: LogEvents) -> Result<(), HostError> {
    let fails = cx.plugin().batches.fetch_add(1, SeqCst).is_multiple_of(2);
    let forgets = events.iter().any(|event| event.data["word"] == "forget" && fails);
    cx.write(async move |tx| {
        for event in events.iter() {
            let word = event.data["word"].as_str().or(event.data["amount"].as_str()).unwrap_or_default();
            let insert = sql("INSERT INTO follower_heard (event, word) VALUES ($1, $2)");
            tx.execute(insert.bind(event.id).bind(word)).await?;
        }
        if forgets {
            return Ok(());
        }
        events.mark_done(tx).await?;
        if fails { Err(HostError::new(HostErrorCode::Internal, "the follower trips")) } else { Ok(()) }
    })
    .await
}

fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<LogFollower>()
}

async fn publish(gateway: &TestGateway, words: &[&str]) {
    let response = gateway.send("POST", "/api/follower/words", &[], json!({ "words": words }).to_string()).await;
    assert_eq!(response.status, 201, "{}", response.text());
}

async fn heard(gateway: &TestGateway) -> Vec<String> {
    let rows = gateway.rows("SELECT word FROM follower_heard ORDER BY number").await;
    rows.iter().map(|row| row.trim_start_matches("Text(\"").trim_end_matches("\")").to_owned()).collect()
}

/// The job's pauses are by the test's clock.
async fn until_heard(gateway: &TestGateway, expected: &[&str]) {
    TestGateway::eventually(LIMIT, "the follower hears", || async {
        gateway.clock().advance(Duration::from_secs(1)).await;
        heard(gateway).await == expected
    })
    .await;
}

/// The subscription begins when its job runs first.
async fn until_subscribed(gateway: &TestGateway) {
    TestGateway::eventually(LIMIT, "the subscription begins", || async {
        gateway.clock().advance(Duration::from_secs(1)).await;
        !gateway.rows("SELECT name FROM host_log_subscriptions").await.is_empty()
    })
    .await;
}

async fn operate(gateway: &TestGateway, action: OperatorAction) {
    let outcome = gateway.gateway().plugins.operate(action, "follower", "the test").await.unwrap();
    assert!(outcome.is_reached, "{}", outcome.report.reason);
}

#[tokio::test]
async fn every_event_is_heard_once_and_in_order() {
    for gateway in TestGateway::each_database(&[module()]).await {
        until_subscribed(&gateway).await;
        publish(&gateway, &["one", "(aside)", "two"]).await;
        until_heard(&gateway, &["one", "two"]).await;
        publish(&gateway, &["three"]).await;
        until_heard(&gateway, &["one", "two", "three"]).await;
        assert!(gateway.faults().await[0].contains("the follower trips"), "each batch failed once");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_new_subscription_begins_at_the_end_of_the_log() {
    for gateway in TestGateway::each_database(&[module()]).await {
        until_subscribed(&gateway).await;
        publish(&gateway, &["before"]).await;
        until_heard(&gateway, &["before"]).await;
        operate(&gateway, OperatorAction::Disable).await;
        gateway.execute("DELETE FROM host_log_subscriptions").await;
        operate(&gateway, OperatorAction::Enable).await;
        until_subscribed(&gateway).await;
        publish(&gateway, &["after"]).await;
        until_heard(&gateway, &["before", "after"]).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_comes_while_the_plugin_is_off_is_heard_later() {
    for gateway in TestGateway::each_database(&[module()]).await {
        until_subscribed(&gateway).await;
        publish(&gateway, &["one"]).await;
        until_heard(&gateway, &["one"]).await;
        let begun = std::time::Instant::now();
        operate(&gateway, OperatorAction::Disable).await;
        operate(&gateway, OperatorAction::Enable).await;
        publish(&gateway, &["two"]).await;
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "it stops without waiting for events: {:?}",
            begun.elapsed()
        );
        until_heard(&gateway, &["one", "two"]).await;
        let gateway = gateway.restart().await;
        publish(&gateway, &["three"]).await;
        until_heard(&gateway, &["one", "two", "three"]).await;
        gateway.stop().await;
    }
}

/// Otherwise each write would read them all again, until one comes that is wanted.
#[tokio::test]
async fn events_of_other_types_are_passed_over_for_good() {
    for gateway in TestGateway::each_database(&[module()]).await {
        until_subscribed(&gateway).await;
        publish(&gateway, &["(one)", "(two)"]).await;
        TestGateway::eventually(LIMIT, "both are in the log", || async { gateway.events().await.len() == 2 }).await;
        operate(&gateway, OperatorAction::Disable).await;
        let is_passed = "SELECT 1 FROM host_log_subscriptions WHERE position = (SELECT max(id) FROM host_activity)";
        TestGateway::eventually(LIMIT, "the subscription is at the end", || async {
            gateway.rows(is_passed).await.len() == 1
        })
        .await;
        operate(&gateway, OperatorAction::Enable).await;
        publish(&gateway, &["three"]).await;
        until_heard(&gateway, &["three"]).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_a_reorganisation_undid_meanwhile_is_not_heard() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder.plugin(module()), &chain).await;
        until_subscribed(&gateway).await;
        operate(&gateway, OperatorAction::Disable).await;
        chain.mine(vec![moved(1, "1")]);
        chain.mine(vec![moved(1, "2")]);
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        assert_eq!(gateway.events().await.len(), 2);
        chain.reorg(6);
        chain.mine(vec![moved(1, "3")]);
        chain.mine_empty(6);
        gateway.indexed(&chain).await;
        assert_eq!(gateway.events().await.len(), 3, "what stays, the retraction, what is new");
        operate(&gateway, OperatorAction::Enable).await;
        until_heard(&gateway, &["1", "3"]).await;
        chain.reorg(8);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_handler_that_does_not_mark_its_events_is_at_fault() {
    for gateway in TestGateway::each_database(&[module()]).await {
        until_subscribed(&gateway).await;
        publish(&gateway, &["forget"]).await;
        TestGateway::eventually(LIMIT, "the fault", || async {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.faults().await.iter().any(|fault| fault.contains("hear returned without `mark_done`"))
        })
        .await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn more_events_than_a_batch_are_heard_in_several() {
    for gateway in TestGateway::each_database(&[module()]).await {
        until_subscribed(&gateway).await;
        let words: Vec<String> = (0..1_200).map(|number| number.to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        publish(&gateway, &words[..600]).await;
        publish(&gateway, &words[600..]).await;
        until_heard(&gateway, &words).await;
        gateway.stop().await;
    }
}

//! Two gateways on one PostgreSQL database: each uses what it has cached until the other one writes, and never longer.

use super::{
    NOTES, add_note, builder,
    cached::{CALLS, again},
    call, count,
    fresh::replicas,
    notebook::{self, EVENTS},
};
use crate::storage::Engine;
use futures_util::{FutureExt as _, future::join_all};
use gateway_telemetry::MetricsRecorder;
use gateway_tests::process::LIMIT;
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, TestResponse, json};
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_has_cached_is_used_until_the_other_one_writes() {
    let gateways = replicas().await;
    let [here, there] = [&gateways[0], &gateways[1]];
    for _ in 0..100 {
        let cached = call(&again(here, CALLS).await);
        for _ in 0..3 {
            assert_eq!(call(&here.get(CALLS).await), cached, "nobody has written");
        }
        add_note(there, "a change of its data").await;
        assert_ne!(call(&here.get(CALLS).await), cached);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_is_rolled_back_changes_nothing_elsewhere() {
    let gateways = replicas().await;
    let cached = call(&again(&gateways[0], CALLS).await);
    let failed = gateways[1].send("POST", NOTES, &[], json!({ "body": "x", "fail": true }).to_string()).await;
    assert_eq!(failed.status, 409);
    assert_eq!(call(&gateways[0].get(CALLS).await), cached);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_owner_changes_everything() {
    let gateways = replicas().await;
    add_note(&gateways[0], "a note").await;
    let note = async || again(&gateways[0], "/api/notebook/notes/1").await.json()["body"].clone();
    for number in 0..10 {
        note().await;
        let body = format!("as of definition {number}");
        let update = format!("UPDATE notebook_notes SET body = '{body}'");
        gateways[1].gateway().database.execute_batch(&update).await.unwrap();
        assert_eq!(note().await, json!(body));
        note().await;
        let update = format!("UPDATE notebook_notes SET body = 'by an operator {number}'");
        gateways[1].execute(&update).await;
        assert_eq!(note().await, json!(format!("by an operator {number}")));
    }
}

/// The list of events at one gateway, while it is asked for as often as possible, has each event that the other one publishes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_as_new_at_every_gateway() {
    let gateways = replicas().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = gateways
        .iter()
        .cloned()
        .map(|gateway| {
            let is_over = is_over.clone();
            tokio::spawn(async move {
                while !is_over.load(SeqCst) {
                    count(&gateway.get(EVENTS).await);
                }
            })
        })
        .collect();
    for number in 1..=100_usize {
        let body = json!({ "body": "x", "publish": true }).to_string();
        let answer = gateways[number % 2].send("POST", NOTES, &[], body).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
        for gateway in &gateways {
            let has_all = async || usize::try_from(count(&gateway.get(EVENTS).await)) == Ok(number);
            TestGateway::eventually(LIMIT, "the event is in the list", has_all).await;
        }
    }
    is_over.store(true, SeqCst);
    join_all(readers).await.into_iter().for_each(|reader| reader.unwrap());
}

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";

/// One of them indexes, and both have a list of what is indexed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_the_chain_are_as_new_at_every_gateway() {
    let chain = ScriptedChain::start().await;
    let one =
        builder(Engine::Postgres).await.plugin(agents::plugin_module()).chain(&chain, &["registry"]).start().await;
    let url = one.gateway().config.database.url.clone();
    let other = TestGateway::builder().plugin(notebook::plugin_module()).plugin(agents::plugin_module());
    let other = other.chain(&chain, &["registry"]).configure(|config| config.database.url = url).start().await;
    for number in 1..=20_u64 {
        let owner = json!(format!("0x{number:040}"));
        let arguments = [json!(number), owner, json!("a"), json!(""), json!("ipfs://m"), json!("5"), json!("100")];
        chain.mine(vec![ScriptedLog::new("registry", REGISTERED, &arguments)]);
        for gateway in [&one, &other] {
            let has_all = async || again(gateway, "/api/agents").await.json()["total"] == number;
            TestGateway::eventually(LIMIT, "the agent is in the list", has_all).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_versions_the_handler_answers() {
    let gateways = replicas().await;
    let [here, there] = [&gateways[0], &gateways[1]];
    let cached = call(&again(here, CALLS).await);
    assert_eq!(call(&here.get(CALLS).await), cached);
    there.execute("ALTER TABLE host_versions RENAME TO host_versions_away").await;
    let answers: BTreeSet<i64> =
        join_all((0..20).map(async |_| call(&here.get(CALLS).await))).await.into_iter().collect();
    assert_eq!(answers.len(), 20, "each is an answer of the handler: {answers:?}");
    for number in 1..=5 {
        add_note(there, "x").await;
        assert_eq!(count(&here.get(NOTES).await), number);
        assert!(!here.get(NOTES).await.header("etag").is_empty());
    }
    there.execute("ALTER TABLE host_versions_away RENAME TO host_versions").await;
    let cached = call(&again(here, CALLS).await);
    assert_eq!(call(&here.get(CALLS).await), cached);
}

fn version_reads(metrics: &MetricsRecorder) -> u64 {
    let text = metrics.render();
    let line = text.lines().find_map(|line| line.strip_prefix("gateway_version_reads_total "));
    line.map_or(0, |count| count.parse().unwrap())
}

#[tokio::test]
async fn a_hundred_who_ask_at_once_share_two_reads() {
    let metrics = MetricsRecorder::install().expect("each test has a process of its own");
    let gateway = builder(Engine::Postgres).await.start().await;
    let database = &gateway.gateway().database;
    let url = secrecy::ExposeSecret::expose_secret(gateway.gateway().config.database.url.as_ref().unwrap());
    let mut other = PgConnection::connect(url).await.unwrap();
    let before = version_reads(&metrics);
    // No read ends before all have asked.
    other.execute("BEGIN; LOCK TABLE host_changes IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut asked = join_all((0..100).map(|_| database.current_revisions()));
    assert!((&mut asked).now_or_never().is_none());
    other.execute("COMMIT").await.unwrap();
    assert!(asked.await.iter().all(Option::is_some));
    assert_eq!(version_reads(&metrics) - before, 2, "the first one's, and one that began after the others asked");
    other.close().await.unwrap();
    gateway.stop().await;
}

fn position(answer: &TestResponse) -> u64 {
    assert_eq!(answer.status, 204, "{}", answer.text());
    answer.header("x-service-position").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_the_position_of_a_write_reads_it_although_answers_may_be_old() {
    let one = builder(Engine::Postgres).await.configure(|config| config.database.staleness_ms = 1000).start().await;
    let database = one.gateway().config.database.clone();
    let other = TestGateway::builder().plugin(notebook::plugin_module());
    let other = other.configure(|config| config.database = database).start().await;
    let (gateways, mut last) = ([&one, &other], 0);
    for number in 1..=100_usize {
        let (here, there) = (gateways[number % 2], gateways[(number + 1) % 2]);
        again(there, NOTES).await;
        let added = here.send("POST", NOTES, &[], json!({ "body": "x" }).to_string()).await;
        let position = position(&added);
        assert!(position > last, "{position} after {last}");
        last = position;
        let known = [("x-service-position", added.header("x-service-position"))];
        for gateway in [there, here, there] {
            let list = gateway.send("GET", NOTES, &known, "").await;
            assert_eq!(usize::try_from(count(&list)), Ok(number));
            assert_eq!(list.header("x-service-position"), "", "the answer to a write has it");
        }
    }
    // One that no write ever had is answered, and not from the cache.
    let unknown = [("x-service-position", "999999999999")];
    let asked = async || call(&one.send("GET", CALLS, &unknown, "").await);
    assert_ne!(asked().await, asked().await);
    assert_ne!(asked().await, asked().await);
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn answers_that_are_never_old_have_no_position() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let gateway = builder(engine).await.start().await;
        let added = gateway.send("POST", NOTES, &[], json!({ "body": "x" }).to_string()).await;
        assert_eq!((added.status, added.header("x-service-position")), (204, ""), "{engine:?}");
        gateway.stop().await;
    }
}

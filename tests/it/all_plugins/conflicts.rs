//! Serialization failures at every statement of every write.
//!
//! The rule that is tested: a write that the database refuses because of another transaction runs again, and nobody sees it: the
//! answer, the rows and the events are those of a gateway in which nothing conflicted.

use super::{
    Call,
    calls::writes,
    chain,
    plugin_removed::{make_call, with_all_plugins},
};
use gateway_tests::{
    postgres,
    postgres_proxy::{Fault, PostgresProxy, Transaction},
};
use plugin_testing::{ScriptedChain, TestGateway, Value};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};
use std::{collections::BTreeSet, time::Duration};

/// Fewer than the attempts that a write has.
const CONFLICTS_PER_REQUEST: usize = 3;
const LIMIT: Duration = Duration::from_secs(10);

/// What a write's transaction begins with: the guard of a signed route, or the first statement of an unsigned one.
const GUARD: &str = "INSERT INTO host_replay_guard";
const UNSIGNED: [(&str, &str); 2] = [("store_payload", "payloads_"), ("join_waitlist", "validators_")];

/// Operations that write, if they do, only with keys, agents' endpoints or other chains: `cargo xtask conflicts` lets every write of their
/// plugins' own tests conflict.
const ELSEWHERE: [&str; 8] = [
    "call_a2a",
    "call_rpc",
    "create_account",
    "invoke_agent",
    "invoke_compute",
    "relay_call",
    "request_drip",
    "settle_payment",
];
/// It only reads.
const READS: [&str; 1] = ["verify_payment"];
const OPENAPI: &str = include_str!("../../openapi.json");

/// Sequences, as they were before a call. A failed attempt uses up ids, which is right, but then the rows of two gateways would
/// differ by their ids: here each attempt that fails sets the sequences of plugins back. Those of the gateway's own tables serve
/// other transactions at the same time.
const SEQUENCES: &str = "CREATE TABLE test_sequences (name TEXT, value BIGINT, is_called BOOLEAN)";
const NOTE_SEQUENCES: &str = r"DELETE FROM test_sequences;
    INSERT INTO test_sequences SELECT format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value),
        last_value IS NOT NULL FROM pg_sequences WHERE sequencename NOT LIKE 'host\_%'";
const RESET_SEQUENCES: &str = "PERFORM setval(name::regclass, value, is_called) FROM test_sequences;";

/// Numbers of rows as they are read: what they are the sums of is compacted at any time. Not what a job writes at its own time.
const TABLES: &str = r"SELECT table_name::TEXT FROM information_schema.tables WHERE table_schema = 'public'
    AND (table_type = 'BASE TABLE' OR table_name LIKE '%\_counts') AND table_name NOT LIKE '%\_count\_changes'
    AND table_name NOT LIKE 'host\_%' AND table_name NOT IN ('_migrations', 'test_sequences', 'payloads_witnesses', 'webhooks_deliveries')
    AND table_name NOT LIKE 'webhooks\_queue%' ORDER BY 1";

/// A gateway with every plugin whose database is behind the proxy.
struct ProxiedGateway {
    gateway: TestGateway,
    proxy: PostgresProxy,
    /// Without the proxy.
    database: PgConnection,
}

/// How a call went.
struct CallResult {
    status: u16,
    body: String,
    /// The first one is the call's own first attempt.
    transactions: Vec<Transaction>,
}

impl ProxiedGateway {
    async fn start(chain: &ScriptedChain) -> Self {
        let url = postgres::fresh_database().await.unwrap();
        let proxy = PostgresProxy::start(&url).await.unwrap();
        let through = proxy.url().to_owned();
        let builder = TestGateway::builder().configure(|config| config.database.url = Some(through.into()));
        let gateway = with_all_plugins(builder, chain).start().await;
        gateway.indexed(chain).await;
        let mut database = PgConnection::connect(&url).await.unwrap();
        database.execute(sqlx::raw_sql(SEQUENCES)).await.unwrap();
        proxy.run_before_conflict(RESET_SEQUENCES);
        Self { gateway, proxy, database }
    }

    async fn call(&mut self, call: &Call, conflicts: &[usize]) -> CallResult {
        self.database.execute(sqlx::raw_sql(NOTE_SEQUENCES)).await.unwrap();
        self.proxy.watch(marker(call), conflicts.iter().copied().map(Fault::Conflict));
        let answer = make_call(&self.gateway, call).await;
        CallResult { status: answer.status, body: answer.text(), transactions: self.proxy.transactions() }
    }

    /// All rows of plugins, and all events without their ids.
    async fn contents(&mut self) -> Vec<String> {
        let mut contents = Vec::new();
        for table in self.database.fetch_all(TABLES).await.unwrap() {
            let table: String = table.get(0);
            // Keys and signatures are random, and a job makes them.
            if table.starts_with("transparency_") {
                continue;
            }
            let rows = format!("SELECT t::TEXT FROM \"{table}\" t ORDER BY 1");
            let rows = self.database.fetch_all(AssertSqlSafe(rows)).await.unwrap();
            let row = |row: &sqlx::postgres::PgRow| comparable(has_secrets(&table), row.get::<String, _>(0));
            contents.extend(rows.iter().map(|found| format!("{table} {}", row(found))));
        }
        // By what is compared, not by what is random.
        contents.sort();
        let events = self.gateway.events().await.into_iter();
        contents.extend(events.map(|event| format!("{:?}", plugin_api::manifest::ActivityRow { id: 0, ..event })));
        contents
    }

    async fn stop(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

/// Whether a table has random numbers, and what is sealed with them.
fn has_secrets(table: &str) -> bool {
    ["memory_", "webhooks_"].iter().any(|plugin| table.starts_with(plugin))
}

/// Without what differs between two gateways: nonces, what is sealed, and the hashes that follow from them.
fn comparable(has_secrets: bool, text: String) -> String {
    const RANDOM_DIGITS_MIN: usize = 16;
    if !has_secrets {
        return text;
    }
    let mut left = String::new();
    for run in text.split_inclusive(|character: char| !character.is_ascii_hexdigit()) {
        let digits = run.trim_end_matches(|character: char| !character.is_ascii_hexdigit());
        let is_random = digits.len() >= RANDOM_DIGITS_MIN;
        left.push_str(if is_random { "#" } else { digits });
        left.push_str(&run[digits.len()..]);
    }
    left
}

#[test]
fn only_long_hexadecimal_digits_are_random() {
    let text = r#"(0xabc,"\xffffffffffffffffff",{"nonce":"0x00112233445566778899aabbccddeeff"},7)"#;
    assert_eq!(comparable(true, text.to_owned()), r#"(0xabc,"\x#",{"nonce":"0x#"},7)"#);
    assert_eq!(comparable(false, text.to_owned()), text);
}

#[test]
fn every_operation_that_writes_meets_conflicts() {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let methods = paths.flat_map(|path| path.as_object().unwrap());
    let writing = methods.filter(|(method, _)| ["post", "put", "patch", "delete"].contains(&method.as_str()));
    let operations: BTreeSet<&str> = writing.map(|(_, operation)| operation["operationId"].as_str().unwrap()).collect();
    let here: BTreeSet<&str> = writes(0).iter().map(|call| call.operation).collect();
    let elsewhere: BTreeSet<&str> = ELSEWHERE.into_iter().chain(READS).collect();
    assert!(operations.len() > 30 && here.is_disjoint(&elsewhere), "{here:?}");
    let missing: Vec<&&str> =
        operations.iter().filter(|name| !here.contains(**name) && !elsewhere.contains(**name)).collect();
    assert!(missing.is_empty(), "a call of each belongs into `writes`: {missing:?}");
}

fn marker(call: &Call) -> &'static str {
    let unsigned = UNSIGNED.iter().find(|(operation, _)| *operation == call.operation);
    let marker = unsigned.map_or(GUARD, |(_, tables)| tables);
    assert_eq!(call.signer.is_none(), marker != GUARD, "{} is in the list, or is signed", call.operation);
    marker
}

fn is_of_memory(call: &Call) -> bool {
    call.path.starts_with("/api/memory")
}

/// The statements that can fail with a conflict: all behind the BEGIN, the COMMIT as well.
fn positions(answered: &CallResult) -> Vec<usize> {
    let Some(transaction) = answered.transactions.first() else { return Vec::new() };
    let is_position = |position: &usize| {
        let is_rollback = |statement: &String| statement.to_ascii_uppercase().starts_with("ROLLBACK");
        *position > 1 && !transaction.statements.get(position - 1).is_some_and(is_rollback)
    };
    (transaction.marked_at..=transaction.statements.len()).filter(is_position).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_at_any_statement_changes_no_answer_and_no_row() {
    let chain = chain().await;
    let mut calm = ProxiedGateway::start(&chain).await;
    let calls = writes(calm.gateway.now_s());
    let (mut expected, mut conflicts) = (Vec::new(), Vec::new());
    for call in &calls {
        let answered = calm.call(call, &[]).await;
        assert_eq!(answered.status, call.status, "{}: {}", call.operation, answered.body);
        let positions = positions(&answered);
        eprintln!("{}: conflicts at {positions:?}", call.operation);
        assert!(!positions.is_empty() || call.status >= 400, "{} wrote nothing", call.operation);
        conflicts.push(positions);
        expected.push((answered.status, comparable(is_of_memory(call), answered.body)));
    }

    let most = conflicts.iter().map(Vec::len).max().unwrap_or_default();
    for round in 0..most.div_ceil(CONFLICTS_PER_REQUEST) {
        let mut conflicting = ProxiedGateway::start(&chain).await;
        for ((call, positions), expected) in calls.iter().zip(&conflicts).zip(&expected) {
            let positions = positions.chunks(CONFLICTS_PER_REQUEST).nth(round).unwrap_or_default();
            let answered = conflicting.call(call, positions).await;
            let hits = answered.transactions.iter().take(positions.len()).filter(|attempt| attempt.was_hit).count();
            let attempts = &answered.transactions;
            assert_eq!(hits, positions.len(), "{}: conflicts at {positions:?} in {attempts:#?}", call.operation);
            let got = (answered.status, comparable(is_of_memory(call), answered.body));
            let faults = conflicting.gateway.faults().await;
            assert_eq!(&got, expected, "{} after conflicts at {positions:?}; {faults:?}", call.operation);
        }
        same_contents(&mut calm, &mut conflicting).await;
        conflicting.stop().await;
    }
    calm.stop().await;
}

/// Events become public a moment after their commit.
async fn same_contents(calm: &mut ProxiedGateway, conflicting: &mut ProxiedGateway) {
    let started = std::time::Instant::now();
    loop {
        let (expected, found) = (calm.contents().await, conflicting.contents().await);
        if expected == found {
            return;
        }
        if started.elapsed() > LIMIT {
            let lacking: Vec<&String> = expected.iter().filter(|row| !found.contains(row)).collect();
            let surplus: Vec<&String> = found.iter().filter(|row| !expected.contains(row)).collect();
            panic!("of {} rows and events: without conflicts {lacking:#?}, with them {surplus:#?}", expected.len());
        }
        tokio::task::yield_now().await;
    }
}

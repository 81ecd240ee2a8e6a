//! Operations at the same time, on PostgreSQL by two gateways: whatever their order is, some things hold after it.

use super::{
    accounts::{NewOperation, Operation},
    events, postgres_url, rows, run,
    script::operation,
    start,
};
use crate::crash::Dice;
use futures_util::future::join_all;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

const CLIENTS: i64 = 8;
/// Of one client; the events of all fit into one page of the log.
const OPERATIONS: i64 = 40;
const PAUSE: Duration = Duration::from_millis(2);

/// An operation, and what was done.
type CompletedOperation = (NewOperation, Value);

/// One client's operations, one after the other. One whose attempts all conflicted had no effect and is sent again.
async fn play(gateway: &TestGateway, client: i64, mut dice: Dice) -> Vec<CompletedOperation> {
    let mut done = Vec::new();
    for turn in 0..OPERATIONS {
        let new = operation(&mut dice, client * OPERATIONS + turn);
        let started = Instant::now();
        loop {
            match run(gateway, &new).await {
                Ok(answer) => done.push((new, answer)),
                Err((503, _)) if started.elapsed() < LIMIT => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                Err((status, code)) => assert!([404, 409, 422].contains(&status), "{status} {code}: {new:?}"),
            }
            break;
        }
    }
    done
}

/// Balance, moves and pair by name, computed from what was acknowledged.
fn accounts(done: &[CompletedOperation]) -> BTreeMap<&str, (i64, i64, i64)> {
    let mut accounts = BTreeMap::new();
    for (new, _) in done {
        if let Operation::Open { name, pair, balance } = &new.operation {
            assert_eq!(accounts.insert(name.as_str(), (*balance, 0, *pair)), None, "{name} was opened twice");
        }
    }
    let mut add = |name: &str, amount: i64| {
        let account = accounts.get_mut(name).expect("nobody moves what is not there");
        (account.0, account.1) = (account.0 + amount, account.1 + 1);
    };
    for (new, _) in done {
        match &new.operation {
            Operation::Open { .. } => {}
            Operation::Deposit { name, amount } => add(name, *amount),
            Operation::Withdraw { name, amount } => add(name, -amount),
            Operation::Transfer { from, to, amount } => {
                add(from, -amount);
                add(to, *amount);
            }
            Operation::Spoil { .. } => panic!("it is always refused: {new:?}"),
        }
    }
    accounts
}

/// No update is lost, nothing is twice, and no refused operation left anything.
fn check_rows(done: &[CompletedOperation], rows: &[String]) {
    let accounts = accounts(done);
    let mut expected: Vec<String> = accounts
        .iter()
        .map(|(name, (balance, moves, pair))| format!("account Text({name:?}) Int({pair}) Int({balance}) Int({moves})"))
        .collect();
    for (new, _) in done {
        if let Operation::Transfer { from, to, amount } = &new.operation {
            expected.push(format!("transfer Int({}) Text({from:?}) Text({to:?}) Int({amount})", new.number));
        }
    }
    expected.push(format!("total Text(\"all\") Int({})", accounts.len()));
    expected.sort();
    assert_eq!(rows, expected);

    // Both may have withdrawn at the same time, each because of what the other one still had: that is no order of the two.
    let mut pairs = BTreeMap::<i64, i64>::new();
    for (balance, _, pair) in accounts.values() {
        *pairs.entry(*pair).or_default() += balance;
    }
    assert!(pairs.values().all(|balance| *balance >= 0), "a pair has less than nothing: {pairs:?}");
}

/// Each acknowledged operation has one event, ids have no gap, and each account was counted by one who saw those before it.
fn check_events(done: &[CompletedOperation], events: &[(i64, Value)]) {
    let ids: Vec<i64> = events.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, (1..).take(events.len()).collect::<Vec<i64>>());
    let mut published: Vec<(i64, Value)> =
        events.iter().map(|(_, data)| (data["number"].as_i64().unwrap(), data["done"].clone())).collect();
    published.sort_by_key(|(number, _)| *number);
    let mut expected: Vec<(i64, Value)> = done.iter().map(|(new, answer)| (new.number, answer.clone())).collect();
    expected.sort_by_key(|(number, _)| *number);
    assert_eq!(published, expected);

    let counts: Vec<i64> = done.iter().filter_map(|(_, answer)| answer["accounts"].as_i64()).collect();
    let distinct: BTreeSet<i64> = counts.iter().copied().collect();
    assert_eq!(distinct, (1..).take(counts.len()).collect::<BTreeSet<i64>>(), "{counts:?}");
}

async fn play_on(gateways: &[TestGateway]) {
    let dice = Dice::new();
    let clients = (0..CLIENTS).zip(gateways.iter().cycle());
    let played =
        join_all(clients.map(|(client, gateway)| play(gateway, client, dice.fork(client.unsigned_abs())))).await;
    let done = played.concat();
    let refused = CLIENTS * OPERATIONS - i64::try_from(done.len()).unwrap();
    eprintln!("{} done, {refused} refused", done.len());
    assert!(done.len() > 30 && refused > 30, "{} done, {refused} refused", done.len());
    for gateway in gateways {
        check_rows(&done, &rows(gateway).await);
        let all_have_ids = async || events(gateway).await.len() >= done.len();
        TestGateway::eventually(LIMIT, "all events are public", all_have_ids).await;
        check_events(&done, &events(gateway).await);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_at_the_same_time_are_as_if_in_some_order_on_sqlite() {
    let gateway = start(None).await;
    play_on(std::slice::from_ref(&gateway)).await;
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_at_the_same_time_are_as_if_in_some_order_on_two_gateways_with_postgres() {
    let url = postgres_url().await;
    let gateways = [start(Some(&url)).await, start(Some(&url)).await];
    play_on(&gateways).await;
    for gateway in gateways {
        gateway.stop().await;
    }
}

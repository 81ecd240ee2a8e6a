//! A reorganisation removes everything that the branch derived.

use super::{CONTRACTS, builders, finish, fixture, gateways, read, time_of};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway};

const LISTS: [&str; 6] =
    ["/api/streams", "/api/streams/plans", "/api/streams/subs", "/api/disputes", "/api/tokens", "/api/accounts"];

async fn everything(gateway: &TestGateway) -> Vec<String> {
    let mut lists = Vec::new();
    for path in LISTS {
        lists.push(read(gateway, path).await.to_string());
    }
    lists
}

fn beginning() -> Vec<ScriptedLog> {
    let until = u64::try_from(time_of(0)).unwrap() + 1000;
    vec![
        fixture::agent(4, 40, "four"),
        fixture::job(9, 4, 31),
        fixture::opened(1, "7", "705", 100),
        fixture::opened(2, "7", "705", 100),
        fixture::plan(5, 20, "1000", 3600),
        fixture::subscribed(6, 5, 10, until),
        fixture::subscribed(7, 5, 11, until),
        fixture::case_opened(2, 9, 31),
        fixture::evidence(2, 31, "first"),
        fixture::launched(4, 0x70, "FOUR"),
        fixture::account(40, 0x60),
    ]
}

/// Changes every row that exists before, and adds rows to every table.
fn branch() -> Vec<ScriptedLog> {
    let until = u64::try_from(time_of(0)).unwrap() + 2000;
    vec![
        fixture::agent_sold(4, 40, 41),
        fixture::agent(5, 42, "five"),
        fixture::job(10, 5, 32),
        fixture::claimed(1, "60", "3"),
        fixture::topped_up(2, "1", "706", 101),
        fixture::cancelled(2, 10, "1", "1", "704"),
        fixture::opened(3, "1", "9", 9),
        fixture::plan_active(5, false),
        fixture::plan(6, 21, "1", 1),
        fixture::renewed(6, until),
        fixture::sub_cancelled(7),
        fixture::subscribed(8, 6, 12, until),
        fixture::voted(2, 50),
        fixture::evidence(2, 40, "second"),
        fixture::case_closed(2, 9, 5000),
        fixture::case_opened(3, 10, 32),
        fixture::bought(0x70, "1"),
        fixture::sold(0x70, "1"),
        fixture::distributed(0x70, "1"),
        fixture::launched(5, 0x71, "FIVE"),
        fixture::account(41, 0x61),
    ]
}

#[tokio::test]
async fn an_abandoned_branch_leaves_nothing() {
    let chain = ScriptedChain::start().await;
    chain.mine(beginning());
    let gateways = gateways(&chain).await;
    let mut before = Vec::new();
    for gateway in &gateways {
        before.push(everything(gateway).await);
    }
    // One event per block, so that each is undone separately.
    let branch = branch();
    let depth = u64::try_from(branch.len()).unwrap();
    for log in branch {
        chain.mine(vec![log]);
    }
    for (gateway, before) in gateways.iter().zip(&before) {
        gateway.indexed(&chain).await;
        for (list, (now, before)) in LISTS.iter().zip(everything(gateway).await.iter().zip(before)) {
            assert_ne!(now, before, "{list} did not hear of the branch");
        }
    }
    chain.reorg(depth);
    chain.mine_empty(depth + 1);
    for (gateway, before) in gateways.into_iter().zip(before) {
        gateway.indexed(&chain).await;
        assert_eq!(everything(&gateway).await, before);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn events_that_come_again_elsewhere_are_as_in_a_fresh_index() {
    let chain = ScriptedChain::start().await;
    chain.mine(beginning());
    let gateways = gateways(&chain).await;
    chain.mine(branch());
    for gateway in &gateways {
        gateway.indexed(&chain).await;
    }
    let taken = chain.reorg(1);
    let (early, late) = taken.split_at(11);
    chain.mine(early.to_vec());
    chain.mine(late.to_vec());
    let mut fresh = Vec::new();
    for builder in builders(&chain, &CONTRACTS).await {
        let gateway = builder.start().await;
        gateway.indexed(&chain).await;
        fresh.push(everything(&gateway).await);
        finish(gateway).await;
    }
    for (gateway, fresh) in gateways.into_iter().zip(fresh) {
        gateway.indexed(&chain).await;
        assert_eq!(everything(&gateway).await, fresh);
        finish(gateway).await;
    }
}

//! A reorganisation removes everything that the branch derived.

use super::{CONTRACTS, builders, finish, gateways, read, scene, time_of};
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
        scene::agent(4, 40, "four"),
        scene::job(9, 4, 31),
        scene::opened(1, "7", "705", 100),
        scene::opened(2, "7", "705", 100),
        scene::plan(5, 20, "1000", 3600),
        scene::subscribed(6, 5, 10, until),
        scene::subscribed(7, 5, 11, until),
        scene::case_opened(2, 9, 31),
        scene::evidence(2, 31, "first"),
        scene::launched(4, 0x70, "FOUR"),
        scene::account(40, 0x60),
    ]
}

/// Changes every row that exists before, and adds rows to every table.
fn branch() -> Vec<ScriptedLog> {
    let until = u64::try_from(time_of(0)).unwrap() + 2000;
    vec![
        scene::agent_sold(4, 40, 41),
        scene::agent(5, 42, "five"),
        scene::job(10, 5, 32),
        scene::claimed(1, "60", "3"),
        scene::topped_up(2, "1", "706", 101),
        scene::cancelled(2, 10, "1", "1", "704"),
        scene::opened(3, "1", "9", 9),
        scene::plan_active(5, false),
        scene::plan(6, 21, "1", 1),
        scene::renewed(6, until),
        scene::sub_cancelled(7),
        scene::subscribed(8, 6, 12, until),
        scene::voted(2, 50),
        scene::evidence(2, 40, "second"),
        scene::case_closed(2, 9, 5000),
        scene::case_opened(3, 10, 32),
        scene::bought(0x70, "1"),
        scene::sold(0x70, "1"),
        scene::distributed(0x70, "1"),
        scene::launched(5, 0x71, "FIVE"),
        scene::account(41, 0x61),
    ]
}

#[tokio::test]
async fn a_branch_that_is_taken_back_leaves_nothing() {
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
    chain.take_back(depth);
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
    let taken = chain.take_back(1);
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

//! What a branch derived goes with it: afterwards everything is as if the branch had never been.

use super::{CONTRACTS, builders, finish, houses, read, scene, time_of};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway};

const LISTS: [&str; 6] =
    ["/api/streams", "/api/streams/plans", "/api/streams/subs", "/api/disputes", "/api/tokens", "/api/accounts"];

async fn everything(house: &TestGateway) -> Vec<String> {
    let mut lists = Vec::new();
    for path in LISTS {
        lists.push(read(house, path).await.to_string());
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

/// Touches every row of the beginning, and adds some to every table.
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
    let houses = houses(&chain).await;
    let mut before = Vec::new();
    for house in &houses {
        before.push(everything(house).await);
    }
    // One event a block, so that each is undone by itself.
    let branch = branch();
    let depth = u64::try_from(branch.len()).unwrap();
    for log in branch {
        chain.mine(vec![log]);
    }
    for (house, before) in houses.iter().zip(&before) {
        house.indexed(&chain).await;
        for (list, (now, before)) in LISTS.iter().zip(everything(house).await.iter().zip(before)) {
            assert_ne!(now, before, "{list} did not hear of the branch");
        }
    }
    chain.take_back(depth);
    chain.mine_empty(depth + 1);
    for (house, before) in houses.into_iter().zip(before) {
        house.indexed(&chain).await;
        assert_eq!(everything(&house).await, before);
        finish(house).await;
    }
}

#[tokio::test]
async fn events_that_come_again_elsewhere_are_as_in_a_fresh_index() {
    let chain = ScriptedChain::start().await;
    chain.mine(beginning());
    let houses = houses(&chain).await;
    chain.mine(branch());
    for house in &houses {
        house.indexed(&chain).await;
    }
    let taken = chain.take_back(1);
    let (early, late) = taken.split_at(11);
    chain.mine(early.to_vec());
    chain.mine(late.to_vec());
    let mut fresh = Vec::new();
    for builder in builders(&chain, &CONTRACTS).await {
        let house = builder.start().await;
        house.indexed(&chain).await;
        fresh.push(everything(&house).await);
        finish(house).await;
    }
    for (house, fresh) in houses.into_iter().zip(fresh) {
        house.indexed(&chain).await;
        assert_eq!(everything(&house).await, fresh);
        finish(house).await;
    }
}

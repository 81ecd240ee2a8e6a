//! When chain events become public.

use super::{builders, close, moved, opened, published, started};
use http_body_util::BodyExt;
use plugin_testing::{Fault, ScriptedChain, TestGateway, Value};
use std::{fmt::Debug, time::Duration};

#[tokio::test]
async fn an_event_is_public_when_its_block_is_three_deep() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let block = chain.mine(vec![moved(1, "1")]);
        chain.mine_empty(2);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await, [], "two blocks on top are not enough");
        chain.mine_empty(1);
        gateway.indexed(&chain).await;
        let events = published(&gateway).await;
        assert_eq!(events.iter().map(|(block, _)| *block).collect::<Vec<_>>(), [block]);
        let event = gateway.events().await.remove(0);
        assert_eq!(event.ts, 1_767_225_600 + 7 * i64::try_from(block).unwrap(), "the block's time");
        chain.reorg(4);
        close(gateway).await;
    }
}

#[tokio::test]
async fn what_a_branch_held_back_is_never_public() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(1, "1")]);
        chain.mine_empty(2);
        gateway.indexed(&chain).await;
        let gateway = gateway.restart().await;
        chain.reorg(3);
        let block = chain.mine(vec![moved(1, "2")]);
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        let amounts: Vec<_> = gateway.events().await.into_iter().map(|event| event.data["amount"].clone()).collect();
        assert_eq!(amounts, ["2"]);
        assert_eq!(published(&gateway).await[0].0, block);
        chain.reorg(6);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_public_event_does_not_become_public_again() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let same = || vec![moved(1, "1").in_transaction("twice"), moved(1, "2").in_transaction("twice")];
        chain.mine(same());
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await.len(), 2);
        chain.reorg(6);
        chain.mine(vec![opened(3)]);
        chain.mine([vec![opened(2)], same()].concat());
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await.len(), 2, "the same transaction, deeper than the confirmations");
        let gateway = reindexed(gateway, &chain).await;
        assert_eq!(published(&gateway).await.len(), 2, "nor by a new index");
        chain.reorg(7);
        close(gateway).await;
    }
}

async fn reindexed(gateway: plugin_testing::TestGateway, chain: &ScriptedChain) -> plugin_testing::TestGateway {
    gateway.gateway().plugins.operate(gateway::lifecycle::OperatorAction::Reindex, "ledger", "test").await.unwrap();
    let gateway = gateway.restart().await;
    gateway.indexed(chain).await;
    gateway
}

/// Ids of the events that this retraction names.
pub fn retracted(event: &plugin_api::manifest::ActivityRow) -> Vec<i64> {
    let ids = event.data["ids"].as_array().into_iter().flatten();
    ids.filter_map(plugin_testing::Value::as_i64).collect()
}

#[tokio::test]
async fn what_a_deep_reorganisation_undoes_is_retracted() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(1, "1")]);
        chain.mine(vec![moved(1, "2"), moved(1, "3").in_transaction("again")]);
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        let before = gateway.events().await;
        assert_eq!(before.len(), 3);
        // Only the first of the three blocks stays, and one transaction comes back in another block.
        chain.reorg(6);
        chain.mine(vec![moved(1, "4")]);
        chain.mine(vec![moved(1, "3").in_transaction("again")]);
        chain.mine_empty(6);
        gateway.indexed(&chain).await;
        let after = gateway.events().await;
        let kinds: Vec<&str> = after.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds, ["ledger.moved", "chain.retracted", "ledger.moved", "ledger.moved"]);
        assert_eq!(retracted(&after[1]), [before[1].id, before[2].id]);
        assert_eq!(after[1].data["types"], plugin_testing::json!(["ledger.moved"]));
        assert!(after.is_sorted_by_key(|event| event.id) && after[2].id > before[2].id);
        let amounts: Vec<_> = after.iter().map(|event| event.data["amount"].as_str().unwrap_or_default()).collect();
        assert_eq!(amounts, ["1", "", "4", "3"]);
        // The log itself only grew.
        let all = gateway.rows("SELECT count(*) FROM host_activity").await;
        assert_eq!(all, ["Int(6)"]);
        let gateway = reindexed(gateway, &chain).await;
        assert_eq!(gateway.events().await.len(), 4, "a new index retracts and repeats nothing");
        chain.reorg(9);
        close(gateway).await;
    }
}

/// Begins the index anew, and keeps it at its first block: requests for events fail.
async fn held_at_the_beginning(gateway: &TestGateway, chain: &ScriptedChain) {
    chain.fail_always(Some(Fault::LogsOfWrongType));
    gateway.gateway().plugins.operate(gateway::lifecycle::OperatorAction::Reindex, "ledger", "test").await.unwrap();
    let is_reset = async || gateway.rows("SELECT hash FROM host_chain_index WHERE shape <> ''").await == ["Text(\"\")"];
    TestGateway::eventually(Duration::from_secs(60), "the index begins anew", is_reset).await;
}

#[tokio::test]
async fn what_a_reorganisation_undoes_while_the_index_begins_anew_is_retracted() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let stays = || moved(1, "1").in_transaction("stays");
        chain.mine(vec![stays()]);
        chain.mine(vec![moved(1, "2")]);
        chain.mine(vec![moved(1, "3").in_transaction("later")]);
        chain.mine_empty(4);
        gateway.indexed(&chain).await;
        let before = gateway.events().await;
        held_at_the_beginning(&gateway, &chain).await;
        // One transaction is gone; one is in an earlier block than before, and one in a later.
        chain.reorg(7);
        chain.mine(vec![stays()]);
        chain.mine_empty(3);
        chain.mine(vec![moved(1, "3").in_transaction("later")]);
        chain.mine_empty(4);
        chain.fail_always(None);
        gateway.indexed(&chain).await;
        let after = gateway.events().await;
        assert_eq!(amounts(&after), ["1", "3"], "{after:?}");
        assert_eq!(after[0].id, before[0].id, "what was derived again stays");
        let retracted: Vec<i64> = after.iter().flat_map(retracted).collect();
        assert!(retracted.contains(&before[1].id) && !retracted.contains(&before[0].id), "{retracted:?}");

        // The next reorganisation finds what stayed.
        chain.reorg(9);
        chain.mine_empty(10);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await, []);
        chain.reorg(10);
        close(gateway).await;
    }
}

/// Amounts of the moves among these events.
fn amounts(events: &[plugin_api::manifest::ActivityRow]) -> Vec<&str> {
    events.iter().filter_map(|event| event.data["amount"].as_str()).collect()
}

#[tokio::test]
async fn what_became_final_while_the_index_begins_anew_stays_public_or_is_retracted() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(1, "1").in_transaction("stays")]);
        chain.mine(vec![moved(1, "2")]);
        chain.mine_empty(4);
        gateway.indexed(&chain).await;
        let before = gateway.events().await;
        held_at_the_beginning(&gateway, &chain).await;
        chain.reorg(6);
        chain.mine(vec![moved(1, "1").in_transaction("stays")]);
        chain.mine_empty(100);
        chain.fail_always(None);
        gateway.indexed(&chain).await;
        let after = gateway.events().await;
        assert_eq!(amounts(&after), ["1"]);
        assert_eq!(after[0].id, before[0].id);
        assert_eq!(after.iter().flat_map(retracted).collect::<Vec<_>>(), [before[1].id]);
        assert_eq!(gateway.rows("SELECT unique_key FROM host_chain_events").await, Vec::<String>::new());
        chain.reorg(101);
        close(gateway).await;
    }
}

/// The first events of an open stream.
async fn first_events<B>(mut body: B, count: usize) -> Vec<Value>
where
    B: BodyExt + Unpin,
    B::Data: AsRef<[u8]>,
    B::Error: Debug,
{
    let mut text = String::new();
    loop {
        let complete = text.rsplit_once("\n\n").map_or("", |(complete, _)| complete);
        let data = complete.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
        if events.len() >= count {
            return events;
        }
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame()).await.expect("an event comes in time");
        let frame = frame.expect("the stream goes on").expect("the stream does not fail");
        let data = frame.into_data().unwrap_or_else(|_| panic!("a stream has no trailers"));
        text.push_str(std::str::from_utf8(data.as_ref()).unwrap());
    }
}

/// Type and amount of events as clients read them.
fn told(events: &[Value]) -> Vec<(&str, &str)> {
    let pairs = events.iter().map(|event| (&event["type"], &event["data"]["amount"]));
    pairs.map(|(kind, amount)| (kind.as_str().unwrap_or_default(), amount.as_str().unwrap_or_default())).collect()
}

#[tokio::test]
async fn followers_hear_a_retraction_and_readers_do_not_see_what_it_names() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder.plugin(::activity::plugin_module()), &chain).await;
        chain.mine(vec![moved(1, "1")]);
        chain.mine(vec![moved(1, "2")]);
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        let undone = gateway.events().await[1].id;
        let open = async |query: &str| {
            let response = gateway.open_stream("GET", &format!("/api/stream{query}"), &[], "").await;
            assert_eq!(response.status(), 200);
            response.into_body()
        };
        // A follower of the events that are undone hears it, too.
        let live = [open("").await, open("?type=ledger.moved").await];
        chain.reorg(6);
        chain.mine(vec![moved(1, "3")]);
        chain.mine_empty(6);
        gateway.indexed(&chain).await;
        for stream in live {
            let events = first_events(stream, 2).await;
            assert_eq!(told(&events), [("chain.retracted", ""), ("ledger.moved", "3")]);
            assert_eq!(events[0]["data"]["ids"], plugin_testing::json!([undone]));
        }
        let left = [("ledger.moved", "1"), ("chain.retracted", ""), ("ledger.moved", "3")];
        assert_eq!(told(&first_events(open("?sinceId=0").await, 3).await), left, "a replay");
        let mut listed = gateway.get("/api/activity").await.json()["items"].as_array().unwrap().clone();
        listed.reverse();
        assert_eq!(told(&listed), left);
        chain.reorg(8);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_retraction_survives_a_restart_and_a_branch_that_comes_back() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let event = || vec![moved(1, "1").in_transaction("the same")];
        for round in 0..3 {
            chain.mine(event());
            chain.mine_empty(4);
            gateway.indexed(&chain).await;
            assert_eq!(published(&gateway).await.len(), 1, "round {round}");
            chain.reorg(5);
            chain.mine_empty(6);
            gateway.indexed(&chain).await;
            assert_eq!(published(&gateway).await, [], "round {round}");
            chain.reorg(6);
        }
        let gateway = gateway.restart().await;
        chain.mine_empty(1);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await, []);
        chain.reorg(1);
        close(gateway).await;
    }
}

#[tokio::test]
async fn the_past_is_public_in_its_order() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), opened(2)]);
    (0..150u64).for_each(|block| {
        chain.mine(vec![moved(1 + block % 2, "1")]);
    });
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let blocks: Vec<u64> = published(&gateway).await.into_iter().map(|(block, _)| block).collect();
        assert_eq!(blocks, (2..=148).collect::<Vec<_>>());
        close(gateway).await;
    }
}

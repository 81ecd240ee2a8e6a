//! `GET /api/streams`

use super::{MAX, address, assert_begins_empty, assert_refused, author, finish, fixture, gateways, ids, read, time_of};
use plugin_testing::{ScriptedChain, json};
use std::time::Duration;

const STREAMS: &str = "/api/streams";

#[tokio::test]
async fn without_events_the_list_is_empty() {
    assert_begins_empty(STREAMS, &[("contract", "streamPay")]).await;
}

#[tokio::test]
async fn a_stream_shows_what_the_events_tell() {
    let chain = ScriptedChain::start().await;
    let opening = fixture::opened(1, "7", "705", 100).in_transaction("opening");
    let tx = opening.tx.to_string();
    chain.mine(vec![opening]);
    for gateway in gateways(&chain).await {
        gateway.clock().advance(Duration::from_secs(10)).await;
        let expected = json!({
            "id": 1, "payer": author(10), "payee": author(11), "ratePerSec": "7", "deposit": "705", "claimed": "0",
            "claimable": "70", "start": time_of(0), "stop": time_of(0) + 100, "cancelled": false, "txOpened": tx,
            "updatedAtBlock": 1, "status": "open"
        });
        assert_eq!(read(&gateway, STREAMS).await["items"], json!([expected]));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn claims_count_with_their_fee_and_a_top_up_replaces_deposit_and_stop() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::opened(1, "7", "705", 100), fixture::claimed(1, "60", "3")]);
    chain.mine(vec![fixture::topped_up(1, "700", "1405", 200), fixture::claimed(1, "6", "1")]);
    for gateway in gateways(&chain).await {
        gateway.clock().advance(Duration::from_secs(150)).await;
        let stream = read(&gateway, STREAMS).await["items"][0].clone();
        assert_eq!(
            [&stream["deposit"], &stream["claimed"], &stream["claimable"], &stream["stop"], &stream["updatedAtBlock"]],
            [&json!("1405"), &json!("70"), &json!("980"), &json!(time_of(0) + 200), &json!(2)],
            "150 seconds of 7 less what was claimed"
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn status_and_claimable_follow_the_clock() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::opened(1, "7", "705", 100), fixture::opened(2, "7", "705", 100)]);
    chain.mine(vec![fixture::cancelled(2, 11, "90", "8", "607")]);
    for gateway in gateways(&chain).await {
        gateway.clock().advance(Duration::from_secs(99)).await;
        assert_eq!(ids(&gateway, "/api/streams?status=open").await, (vec![1], 1));
        assert_eq!(ids(&gateway, "/api/streams?status=ended").await, (vec![], 0));
        gateway.clock().advance(Duration::from_secs(1)).await;
        assert_eq!(ids(&gateway, "/api/streams?status=open").await, (vec![], 0));
        assert_eq!(ids(&gateway, "/api/streams?status=ended").await, (vec![1], 1));
        assert_eq!(ids(&gateway, "/api/streams?status=cancelled").await, (vec![2], 1));
        let items = read(&gateway, STREAMS).await["items"].clone();
        let told = |place: usize| (items[place]["status"].clone(), items[place]["claimable"].clone());
        assert_eq!(told(0), (json!("cancelled"), json!("0")));
        assert_eq!(told(1), (json!("ended"), json!("700")));
        assert_eq!(items[0]["claimed"], "98");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_largest_amounts_and_times_neither_break_the_index_nor_change() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::opened_until(1, MAX, MAX, u64::MAX), fixture::claimed(1, MAX, MAX)]);
    chain.mine(vec![fixture::opened_until(2, MAX, MAX, 3)]);
    for gateway in gateways(&chain).await {
        gateway.clock().advance(Duration::from_secs(5)).await;
        let items = read(&gateway, STREAMS).await["items"].clone();
        let largest = &items[1];
        assert_eq!([&largest["ratePerSec"], &largest["deposit"], &largest["claimed"]], [MAX; 3]);
        assert_eq!((&largest["claimable"], largest["stop"].as_i64()), (&json!("0"), Some(i64::MAX)));
        assert_eq!(
            (&items[0]["claimable"], &items[0]["status"]),
            (&json!("0"), &json!("ended")),
            "it stops before it starts"
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn filters_find_parties_in_any_case_and_are_refused_when_they_make_no_sense() {
    let chain = ScriptedChain::start().await;
    chain.mine((1..=3).map(|id| fixture::opened(id, "1", "9", 9)).collect());
    for gateway in gateways(&chain).await {
        let (payer, payee) = (address(10), address(11).to_lowercase());
        for (query, found) in [
            (format!("?payer={payer}"), vec![3, 2, 1]),
            (format!("?payee={payee}&payer=&status="), vec![3, 2, 1]),
            (format!("?payer={payee}"), vec![]),
        ] {
            assert_eq!(ids(&gateway, &format!("{STREAMS}{query}")).await.0, found, "{query}");
        }
        for query in ["?payer=0x1", "?payee=%C3%A4%F0%9F%98%80", "?status=Open", "?status=none"] {
            assert_refused(&gateway, &format!("{STREAMS}{query}")).await;
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn pages_hold_every_stream_once_and_end() {
    let chain = ScriptedChain::start().await;
    for first in (1..=205).step_by(5) {
        chain.mine((first..first + 5).map(|id| fixture::opened(id, "1", "9", 9)).collect());
    }
    for gateway in gateways(&chain).await {
        let mut seen = Vec::new();
        loop {
            let (page, total) = ids(&gateway, &format!("{STREAMS}?limit=30&offset={}", seen.len())).await;
            assert_eq!(total, 205);
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        assert_eq!(seen, (1..=205).rev().collect::<Vec<i64>>());
        for (query, count) in [("", 50), ("?limit=0", 50), ("?limit=many", 50), ("?limit=1000", 200), ("?limit=-1", 1)]
        {
            assert_eq!(ids(&gateway, &format!("{STREAMS}{query}")).await.0.len(), count, "{query}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn events_of_streams_that_are_not_known_change_nothing() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![
        fixture::claimed(7, "1", "1"),
        fixture::topped_up(7, "1", "1", 9),
        fixture::cancelled(7, 10, "1", "0", "1"),
    ]);
    for gateway in gateways(&chain).await {
        assert_eq!(ids(&gateway, STREAMS).await, (vec![], 0));
        finish(gateway).await;
    }
}

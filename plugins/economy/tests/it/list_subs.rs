//! `GET /api/streams/subs`

use super::{address, assert_begins_empty, assert_refused, author, finish, fixture, gateways, ids, read, time_of};
use plugin_testing::{ScriptedChain, json};
use std::time::Duration;

const SUBS: &str = "/api/streams/subs";

#[tokio::test]
async fn without_events_the_list_is_empty() {
    assert_begins_empty(SUBS, &[("contract", "streamPay")]).await;
}

#[tokio::test]
async fn a_subscription_shows_its_plan_and_is_active_while_it_is_paid() {
    let chain = ScriptedChain::start().await;
    let until = u64::try_from(time_of(0)).unwrap() + 100;
    chain.mine(vec![fixture::plan(5, 20, "1000", 3600), fixture::subscribed(1, 5, 10, until)]);
    for gateway in gateways(&chain).await {
        let sub = |active: bool| {
            json!({
                "id": 1, "planId": 5, "payer": author(10), "payee": author(20), "pricePerPeriod": "1000",
                "period": 3600, "paidThrough": until, "cancelled": false, "active": active, "createdAt": time_of(1),
                "updatedAtBlock": 1
            })
        };
        gateway.clock().advance(Duration::from_secs(99)).await;
        assert_eq!(read(&gateway, SUBS).await["items"], json!([sub(true)]));
        gateway.clock().advance(Duration::from_secs(1)).await;
        assert_eq!(read(&gateway, SUBS).await["items"], json!([sub(false)]));
        assert_eq!(ids(&gateway, "/api/streams/subs?active=1").await, (vec![], 0));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_renewal_pays_longer_and_a_cancelled_one_is_over_though_paid() {
    let chain = ScriptedChain::start().await;
    let until = u64::try_from(time_of(0)).unwrap() + 100;
    chain.mine(vec![fixture::subscribed(1, 5, 10, until), fixture::subscribed(2, 5, 11, u64::MAX)]);
    chain.mine(vec![fixture::renewed(1, until + 50), fixture::sub_cancelled(2)]);
    for gateway in gateways(&chain).await {
        gateway.clock().advance(Duration::from_secs(149)).await;
        let items = read(&gateway, SUBS).await["items"].clone();
        assert_eq!(items[1]["paidThrough"], until + 50);
        assert_eq!((&items[1]["active"], &items[1]["cancelled"]), (&json!(true), &json!(false)));
        assert_eq!((&items[0]["active"], &items[0]["cancelled"]), (&json!(false), &json!(true)));
        assert_eq!(items[0]["paidThrough"].as_i64(), Some(i64::MAX), "as the contract told it, as far as it fits");
        assert_eq!(items[0]["payee"], json!(null), "its plan is not known");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn filters_and_pages() {
    let chain = ScriptedChain::start().await;
    let until = u64::try_from(time_of(0)).unwrap() + 100;
    chain.mine((1..=4).map(|id| fixture::subscribed(id, 7 + id % 2, 10 + id % 2, until)).collect());
    chain.mine(vec![fixture::sub_cancelled(4)]);
    for gateway in gateways(&chain).await {
        let odd = address(11).to_lowercase();
        for (query, found) in [
            (String::new(), (vec![4, 3, 2, 1], 4)),
            (format!("?payer={odd}"), (vec![3, 1], 2)),
            ("?planId=7".to_owned(), (vec![4, 2], 2)),
            ("?planId=007&payer=%20".to_owned(), (vec![4, 2], 2)),
            ("?planId=7&active=true".to_owned(), (vec![2], 1)),
            ("?limit=2&offset=3".to_owned(), (vec![1], 4)),
            (format!("?planId={}", "9".repeat(70)), (vec![], 0)),
        ] {
            assert_eq!(ids(&gateway, &format!("{SUBS}{query}")).await, found, "{query}");
        }
        for query in
            ["?payer=me", "?planId=0", "?planId=-1", "?planId=1.5", "?planId=0x1", "?planId=seven", "?planId=%D9%A3"]
        {
            assert_refused(&gateway, &format!("{SUBS}{query}")).await;
        }
        finish(gateway).await;
    }
}

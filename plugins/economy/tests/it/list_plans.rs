//! `GET /api/streams/plans`

use super::{MAX, address, assert_begins_empty, assert_refused, author, finish, fixture, gateways, ids, read, time_of};
use plugin_testing::{ScriptedChain, json};
use std::time::Duration;

const PLANS: &str = "/api/streams/plans";

#[tokio::test]
async fn without_events_the_list_is_empty() {
    assert_begins_empty(PLANS, &[("contract", "streamPay")]).await;
}

#[tokio::test]
async fn a_plan_shows_what_the_events_tell_and_counts_who_is_subscribed_now() {
    let chain = ScriptedChain::start().await;
    let until = u64::try_from(time_of(0)).unwrap() + 100;
    chain.mine(vec![fixture::plan(1, 20, MAX, 3600)]);
    chain.mine(vec![
        fixture::subscribed(1, 1, 10, until),
        fixture::subscribed(2, 1, 11, until + 100),
        fixture::subscribed(3, 1, 12, until + 100),
        fixture::sub_cancelled(3),
        fixture::subscribed(4, 2, 12, until),
    ]);
    for gateway in gateways(&chain).await {
        let plan = |active_subs: i64| {
            json!({
                "id": 1, "payee": author(20), "pricePerPeriod": MAX, "period": 3600, "active": true,
                "metadataURI": "fmx://plan/1 ä😀'\"", "createdAt": time_of(1), "updatedAtBlock": 1,
                "activeSubs": active_subs
            })
        };
        assert_eq!(read(&gateway, PLANS).await["items"], json!([plan(2)]));
        gateway.clock().advance(Duration::from_secs(100)).await;
        assert_eq!(read(&gateway, PLANS).await["items"], json!([plan(1)]), "a second after the first was paid through");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn filters_and_pages() {
    let chain = ScriptedChain::start().await;
    chain.mine((1..=4).map(|id| fixture::plan(id, 20 + id % 2, "1", u64::MAX)).collect());
    chain.mine(vec![fixture::plan_active(4, false), fixture::plan_active(3, false), fixture::plan_active(3, true)]);
    for gateway in gateways(&chain).await {
        let odd = address(21);
        for (query, found) in [
            (String::new(), (vec![4, 3, 2, 1], 4)),
            (format!("?payee={odd}"), (vec![3, 1], 2)),
            ("?active=1".to_owned(), (vec![3, 2, 1], 3)),
            ("?active=true&limit=1&offset=1".to_owned(), (vec![2], 3)),
            ("?active=0".to_owned(), (vec![4, 3, 2, 1], 4)),
            ("?active=yes&payee=".to_owned(), (vec![4, 3, 2, 1], 4)),
            ("?offset=9".to_owned(), (vec![], 4)),
        ] {
            assert_eq!(ids(&gateway, &format!("{PLANS}{query}")).await, found, "{query}");
        }
        assert_refused(&gateway, &format!("{PLANS}?payee=me")).await;
        finish(gateway).await;
    }
}

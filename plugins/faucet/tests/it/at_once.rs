//! Caps under requests at the same time, over replicas and restarts.

use crate::{
    SECRETS_KEY, address, assert_refused, chain, drip, each, eventually, knows_head, passing, post, prepared, used,
};
use futures_util::future::join_all;
use plugin_testing::{ScriptedChain, TestGateway, Value, json};

async fn ask(gateway: &TestGateway, number: u64) -> u16 {
    let headers = [("content-type", "application/json")];
    let body = json!({ "address": address(number) }).to_string();
    gateway.send("POST", "/api/faucet", &headers, body).await.status
}

fn count(statuses: &[u16], status: u16) -> usize {
    statuses.iter().filter(|found| **found == status).count()
}

fn config() -> Value {
    json!({ "per_day": 100, "ip_per_day": 1000, "pow_follows_use": false })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_stay_within_the_budget() {
    each(config(), async |chain: &ScriptedChain, gateway| {
        let all = join_all((0..200).map(|number| ask(&gateway, number)));
        let statuses = passing(&gateway, all).await;
        let sent = count(&statuses, 202);
        assert!(statuses.iter().all(|status| matches!(status, 202 | 503)), "{statuses:?}");
        // On PostgreSQL some may be told to come again, which counts nothing.
        assert!((1..=25).contains(&sent), "{statuses:?}");
        let mut next = 200;
        while used(&gateway).await < 25 {
            drip(&gateway, next).await;
            next += 1;
        }
        assert_refused(&post(&gateway, &json!({ "address": address(999) })).await, 503, "faucet_daily_cap");
        eventually(&gateway, "all are sent", async || chain.waiting().len() == 25).await;
        gateway
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_at_once_gets_one_drip() {
    each(config(), async |chain: &ScriptedChain, gateway| {
        let statuses = passing(&gateway, join_all((0..20).map(|_| ask(&gateway, 1)))).await;
        assert_eq!((count(&statuses, 202), count(&statuses, 429)), (1, 19), "{statuses:?}");
        eventually(&gateway, "it is sent", async || chain.waiting().len() == 1).await;
        assert_eq!(used(&gateway).await, 1);
        gateway
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_of_one_client_stay_within_its_cap() {
    let config = json!({ "per_day": 1000, "ip_per_day": 5, "pow_follows_use": false });
    each(config, async |_, gateway| {
        let statuses = passing(&gateway, join_all((0..40).map(|number| ask(&gateway, number)))).await;
        assert!(statuses.iter().all(|status| matches!(status, 202 | 429 | 503)), "{statuses:?}");
        assert!((1..=5).contains(&count(&statuses, 202)), "{statuses:?}");
        let mut next = 40;
        while used(&gateway).await < 5 {
            drip(&gateway, next).await;
            next += 1;
        }
        assert_refused(&post(&gateway, &json!({ "address": address(999) })).await, 429, "faucet_ip_limit");
        gateway
    })
    .await;
}

/// All of them read the balance before the first drip is recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_leave_the_reserve() {
    // Of 1,000 FMX: there is room for fewer than four drips.
    let config = json!({ "reserve_wei": "998000000000000000000", "per_day": 1000, "ip_per_day": 1000, "pow_follows_use": false });
    each(config, async |chain: &ScriptedChain, gateway| {
        let statuses = passing(&gateway, join_all((0..40).map(|number| ask(&gateway, number)))).await;
        let sent = count(&statuses, 202);
        assert!((1..=4).contains(&sent), "{statuses:?}");
        eventually(&gateway, "all are sent", async || chain.waiting().len() == sent).await;
        assert_eq!(used(&gateway).await, i64::try_from(sent).unwrap());
        gateway
    })
    .await;
}

#[tokio::test]
async fn caps_hold_over_a_restart() {
    each(json!({ "ip_per_day": 2 }), async |_, gateway| {
        drip(&gateway, 1).await;
        drip(&gateway, 2).await;
        let gateway = gateway.restart().await;
        assert_refused(&post(&gateway, &json!({ "address": address(3) })).await, 429, "faucet_ip_limit");
        assert_refused(&post(&gateway, &json!({ "address": address(1) })).await, 429, "faucet_cooldown");
        assert_eq!(used(&gateway).await, 2);
        gateway
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_share_the_caps() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let chain = chain().await;
    let one = prepared(builder, &chain, &config()).start().await;
    let url = one.gateway().config.database.url.clone();
    let other = TestGateway::builder().configure(|config| {
        config.database.url = url;
        config.secrets.key = Some(SECRETS_KEY.to_owned().into());
    });
    let other = prepared(other, &chain, &config()).start().await;
    knows_head(&one).await;
    knows_head(&other).await;
    let requests = join_all((0..60).map(|number| ask(if number % 2 == 0 { &one } else { &other }, number)));
    let statuses = passing(&one, passing(&other, requests)).await;
    let sent = count(&statuses, 202);
    assert!(sent <= 25 && statuses.iter().all(|status| matches!(status, 202 | 503)), "{statuses:?}");
    assert_eq!((used(&one).await, used(&other).await), (sent.try_into().unwrap(), sent.try_into().unwrap()));
    assert_refused(&post(&other, &json!({ "address": "0x1" })).await, 400, "bad_address");
    for gateway in [&one, &other] {
        assert_eq!(gateway.faults().await, Vec::<String>::new());
    }
    other.stop().await;
    one.stop().await;
}

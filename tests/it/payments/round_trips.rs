//! How often a paid call waits for the database: each of its statements is paid for by every call that is sold.

use super::{Market, Payment, Till, agent};
use crate::storage::Engine;
use gateway_tests::postgres_proxy::{PostgresProxy, RoundTrip};
use wiremock::ResponseTemplate;

/// Whether something waits for too long; the payer; his vouchers. BEGIN with his row and his vouchers under it; the voucher and COMMIT.
/// Its end, and how many wait. COMMIT of the end has no text of the plugin's.
const OF_A_PAYMENT: usize = 7;
const CALLS: usize = 5;
/// Until every connection of the pool has prepared the statements.
const WARM_UP_MAX: usize = 50;

/// An empty query is a ping, and a new connection has none.
fn is_of_a_payment(round_trip: &&RoundTrip) -> bool {
    round_trip.executed.iter().chain(&round_trip.parsed).any(|sql| sql.contains("x402_"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paid_call_asks_the_database_no_more_often_than_it_must() {
    let market = Market::open(&[agent("echo", ResponseTemplate::new(200).set_body_string("done"))]).await;
    let setup = market.setup(Engine::Postgres, "facilitator").await.set("plugins.x402.batch_s", 600);
    let proxy = PostgresProxy::start(setup.get("database.url").unwrap()).await.unwrap();
    let setup = setup.set("database.url", proxy.url()).set("database.pool_max", 2);
    let till = Till::open(&market, setup, "facilitator").await;
    let payer = till.payer(&market, 0).await;
    let buy = async || {
        // To sign one, it is asked how.
        let payment = Payment::by(&market, &till, payer).await;
        let before = proxy.round_trips().len();
        assert_eq!(till.call("echo", Some(&payment)).await.status, 200);
        let since = proxy.round_trips().split_off(before);
        since.iter().filter(is_of_a_payment).cloned().collect::<Vec<RoundTrip>>()
    };
    let (mut prepared, mut sold) = (0, 0);
    while prepared < 5 {
        let is_prepared = buy().await.iter().all(|round_trip| round_trip.parsed.is_empty());
        prepared = if is_prepared { prepared + 1 } else { 0 };
        sold += 1;
        assert!(sold < WARM_UP_MAX - CALLS, "statements are prepared again and again");
    }
    let mut calls = Vec::new();
    for _ in 0..CALLS {
        calls.push(buy().await.into_iter().filter(|one| !one.executed.is_empty()).collect::<Vec<_>>());
    }
    // A job of the plugin may ask beside a call, which adds to what is counted, but not beside each of them.
    let least = calls.iter().min_by_key(|call| call.len()).unwrap();
    assert_eq!(least.len(), OF_A_PAYMENT, "{least:#?}");
}

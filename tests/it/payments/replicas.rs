//! Two gateways on one database: a voucher is good once.

use super::{FMX, Market, PRICE, Payment, Till, agent, wei};
use crate::storage::Engine;
use futures_util::future::join_all;
use std::time::Duration;
use wiremock::ResponseTemplate;

const REQUESTS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_requests_with_one_voucher_at_two_gateways_are_served_once() {
    // Long enough that the requests meet the reservation, too.
    let answer = ResponseTemplate::new(200).set_body_string("done").set_delay(Duration::from_millis(500));
    let market = Market::open(&[agent("echo", answer)]).await;
    let setup = market.setup(Engine::Postgres, "facilitator").await.set("plugins.x402.batch_size", 1);
    let other = market.setup(Engine::Postgres, "facilitator").await.set("plugins.x402.batch_size", 1);
    let other = other.set("database.url", setup.get("database.url").unwrap());
    let tills = [Till::open(&market, setup, "facilitator").await, Till::open(&market, other, "facilitator").await];
    let payer = tills[0].payer(&market, 0).await;

    let payment = Payment::by(&market, &tills[0], payer).await;
    let calls = (0..REQUESTS).map(|number| tills[number % 2].call("echo", Some(&payment)));
    let answers = join_all(calls).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    // Those that conflict too often are told to come again.
    assert_eq!((count(200), count(402) + count(503)), (1, REQUESTS - 1), "{statuses:?}");
    assert!(count(402) > REQUESTS / 2, "{statuses:?}");
    assert_eq!(market.calls_of("echo").await, 1);
    for refused in answers.iter().filter(|answer| answer.status == 402) {
        let why = refused.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(why.contains("nonce is used"), "{}", refused.text());
    }
    for till in &tills {
        // So many conflicts are no reason to stop selling.
        let again = till.refusal("echo", &payment).await;
        assert!(again.contains("nonce is used"), "{again}");
    }

    for till in &tills {
        till.becomes(&payment, "settled").await;
        assert_eq!(till.account(&payment.voucher.payer).await["vouchers"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(market.balance(payer).await, wei(FMX - PRICE));
}

//! Agents that do not deliver: nobody pays for that.

use super::{FMX, Market, PRICE, Payment, Till, agent, market, until, wei};
use futures_util::future::{join_all, join3};
use gateway_tests::process::Setup;
use plugin_testing::{TestResponse, json};
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

const MIB: usize = 1024 * 1024;
/// In seconds: what an agent has for its answer here.
const ANSWER_TIMEOUT_S: u64 = 3;
const TOO_LONG: Duration = Duration::from_secs(ANSWER_TIMEOUT_S + 10);
/// For the answer about an agent that takes too long: less than the agent takes.
const PATIENCE: Duration = Duration::from_secs(ANSWER_TIMEOUT_S + 8);

/// How they answer, and what the client is told.
const HOSTILE: [(&str, u16, &str); 4] =
    [("broken", 500, ""), ("huge", 502, "too_large"), ("elsewhere", 502, "bad_answer"), ("gone", 504, "unreachable")];

async fn open() -> (Market, MockServer) {
    let elsewhere = ResponseTemplate::new(307).insert_header("location", "http://169.254.169.254/latest/meta-data");
    let mut market = Market::open(&[
        agent("echo", ResponseTemplate::new(200).set_body_string("done")),
        agent("broken", ResponseTemplate::new(500).set_body_string("not today")),
        agent("huge", ResponseTemplate::new(200).set_body_bytes(vec![b'x'; MIB + 1])),
        agent("elsewhere", elsewhere),
        agent("slow", ResponseTemplate::new(200).set_delay(TOO_LONG)),
    ])
    .await;
    let gone = market::server().await;
    market::serve(&gone, "gone", ResponseTemplate::new(200)).await;
    market.allow(gone.address().to_string());
    market.register("gone", &format!("{}/gone", gone.uri())).await;
    (market, gone)
}

/// Nothing was charged, and the client was told.
pub async fn assert_released(till: &Till, payment: &Payment, refused: &TestResponse, expected: (u16, &str)) {
    let text = refused.text();
    assert_eq!((refused.status, refused.code().as_str()), expected, "{text}");
    assert_eq!(refused.header("x-service-payment-released"), format!("the answer is {}", refused.status), "{text}");
    assert_eq!((refused.header("payment-response"), refused.header("cache-control")), ("", "private, no-store"));
    let voucher = till.voucher(payment).await;
    assert_eq!((&voucher["status"], &voucher["txHash"]), (&json!("voided"), &json!(null)), "{voucher}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_work_costs_nothing_and_the_payer_pays_with_a_new_voucher() {
    let (mut market, gone) = open().await;
    let adjust =
        |setup: Setup| setup.set("plugins.x402.batch_size", 1).set("plugins.a2a.answer_timeout_s", ANSWER_TIMEOUT_S);
    let tills = market.tills(adjust).await;
    drop(gone);
    let inside = market::server().await;
    market::serve(&inside, "inside", ResponseTemplate::new(200).set_body_string("secret")).await;
    // After the gateways have started: none of them learns its price.
    market.register("inside", &format!("{}/inside", inside.uri())).await;
    let all = tills.iter().map(|till| {
        join3(does_not_deliver(&market, till), takes_too_long(&market, till), has_a_private_address(&market, till))
    });
    join_all(all).await;
    for name in ["broken", "huge", "elsewhere", "slow"] {
        assert_eq!(market.calls_of(name).await, tills.len(), "{name} is called once by each gateway");
    }
    assert!(inside.received_requests().await.unwrap().is_empty(), "no gateway asks there, for a card neither");
}

async fn does_not_deliver(market: &Market, till: &Till) {
    let payer = till.payer(market, 0).await;
    for (name, status, code) in HOSTILE {
        let payment = Payment::by(market, till, payer).await;
        let refused = till.call(name, Some(&payment)).await;
        assert_released(till, &payment, &refused, (status, code)).await;
        let again = till.refusal(name, &payment).await;
        assert!(again.contains("voided"), "the nonce stays used: {again}");
    }
    assert_eq!(till.account(market.account(payer)).await["pendingWei"], "0");
    let bought = till.buy(market, "echo", payer).await;
    till.becomes(&bought, "settled").await;
    assert_eq!(market.balance(payer).await, wei(FMX - PRICE));
}

async fn takes_too_long(market: &Market, till: &Till) {
    let payer = till.payer(market, 1).await;
    let payment = Payment::by(market, till, payer).await;
    let waits = till.invocation("slow", Some(&payment)).timeout(PATIENCE).send();
    let response = waits.await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let refused = TestResponse { status, headers, body: response.bytes().await.unwrap() };
    assert_released(till, &payment, &refused, (504, "timeout")).await;
    assert_eq!(market.balance(payer).await, wei(FMX));
}

/// Nobody is asked to pay for what cannot be called.
async fn has_a_private_address(market: &Market, till: &Till) {
    until("the agent is known", async || till.get("/api/agents").await["total"] == market.registered).await;
    let payer = till.payer(market, 2).await;
    let payment = Payment::by(market, till, payer).await;
    for sent in [None, Some(&payment)] {
        let refused = till.call("inside", sent).await;
        assert_eq!((refused.status, refused.code().as_str()), (502, "bad_endpoint"), "{}", refused.text());
    }
    assert_eq!(till.account(&payment.voucher.payer).await["vouchers"], json!([]), "no payment is taken");
}

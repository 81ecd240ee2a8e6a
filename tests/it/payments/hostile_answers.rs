//! Answers that break the rules of HTTP, or use them against the gateway: what does not arrive whole costs nothing.

use super::{
    FMX, Market, PRICE, Payment, Till,
    hostile_agents::assert_released,
    raw_agents::{RawAgents, bomb},
    wei,
};
use crate::e2e::answer;
use futures_util::future::join_all;
use plugin_testing::json;
use reqwest::Method;

/// In seconds: what an agent has for its answer here.
const ANSWER_TIMEOUT_S: u64 = 3;
/// The work may have been done: nobody got it whole.
const NOT_WHOLE: [(&str, u16, &str); 3] =
    [("endless", 502, "too_large"), ("drip", 504, "timeout"), ("cutoff", 502, "bad_answer")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_not_whole_costs_nothing_and_one_that_is_harms_nobody() {
    let mut market = Market::open(&[]).await;
    let _agents = RawAgents::start(&mut market).await;
    let tills = market
        .tills(|setup| setup.set("plugins.x402.batch_size", 1).set("plugins.a2a.answer_timeout_s", ANSWER_TIMEOUT_S))
        .await;
    join_all(tills.iter().map(|till| buys(&market, till))).await;
}

async fn buys(market: &Market, till: &Till) {
    let payer = till.payer(market, 0).await;
    for (name, status, code) in NOT_WHOLE {
        let payment = Payment::by(market, till, payer).await;
        let refused = till.call(name, Some(&payment)).await;
        assert_released(till, &payment, &refused, (status, code)).await;
    }
    does_not_decompress(market, till, payer).await;

    // Two were delivered.
    let payment = Payment::by(market, till, payer).await;
    let bought = till.call("injector", Some(&payment)).await;
    assert_eq!((bought.status, bought.text().as_str()), (200, "done"));
    for header in ["payment-response", "access-control-allow-origin"] {
        assert!(!bought.header(header).contains("forged") && !bought.header(header).contains("evil"), "{header}");
    }
    assert_ne!(bought.header("payment-response"), "", "ours");
    for header in ["x-service-payment-released", "set-cookie", "location"] {
        assert_eq!(bought.header(header), "", "{header}");
    }
    till.becomes(&payment, "settled").await;
    assert_eq!(market.balance(payer).await, wei(FMX - 2 * PRICE));
}

/// A client of `/invoke` gets what the agent compressed; who speaks JSON-RPC would have to read it, so that is no answer.
async fn does_not_decompress(market: &Market, till: &Till, payer: &str) {
    let payment = Payment::by(market, till, payer).await;
    let bought = till.call("bomb", Some(&payment)).await;
    assert_eq!((bought.status, bought.header("content-encoding")), (200, "gzip"), "{}", bought.body.len());
    assert_eq!(&bought.body[..], bomb(), "as it was sent");
    till.becomes(&payment, "settled").await;

    let payment = Payment::by(market, till, payer).await;
    let message = json!({ "role": "user", "messageId": "m", "parts": [{ "kind": "text", "text": "hello" }] });
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": { "message": message } });
    let refused = answer(till.request(Method::POST, "/a/bomb/a2a", Some(&payment)).body(send.to_string())).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (502, &json!(-32000)), "{}", refused.text());
    assert_eq!(till.voucher(&payment).await["status"], "voided");
}

//! The gateway is killed while the agent works: nothing is charged for an answer that nobody got.

use super::{FMX, Market, PRICE, Payment, Till, agent, until, wei};
use crate::crash::execute;
use futures_util::future::join_all;
use std::time::Duration;
use wiremock::ResponseTemplate;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_is_killed_before_the_answer_charges_nothing() {
    let slow = ResponseTemplate::new(200).set_body_string("done").set_delay(Duration::from_secs(30));
    let market = Market::open(&[agent("slow", slow), agent("echo", ResponseTemplate::new(200))]).await;
    let tills = market.tills(|setup| setup.set("plugins.x402.batch_size", 1)).await;
    join_all(tills.into_iter().map(|till| is_killed(&market, till))).await;
}

async fn is_killed(market: &Market, mut till: Till) {
    let payer = till.payer(market, 0).await;
    let payment = Payment::by(market, &till, payer).await;
    let asking = tokio::spawn(till.invocation("slow", Some(&payment)).send());
    until("the agent works", async || market.calls_for(&payment).await == 1).await;
    assert_eq!(till.voucher(&payment).await["status"], "reserved");
    till.gateway.kill().await.unwrap();
    assert!(asking.await.unwrap().is_err(), "the client got no answer");

    // The reservation holds, because another gateway might still be at work.
    till.start_again().await;
    assert_eq!(till.voucher(&payment).await["status"], "reserved");
    let why = till.refusal("echo", &payment).await;
    assert!(why.contains("its voucher is reserved"), "{why}");
    assert_eq!(till.account(&payment.voucher.payer).await["pendingWei"], "0");

    // Its time passes while the gateway is off.
    till.gateway.kill().await.unwrap();
    execute(&till.setup, "UPDATE x402_vouchers SET until_s = until_s - 3600".to_owned()).await;
    till.start_again().await;
    let voided = till.becomes(&payment, "voided").await;
    assert_eq!(voided["error"], "the work did not end in time");
    let is_stored = async || till.rows("SELECT state FROM x402_vouchers").await == [["voided"]];
    until("it is voided for good", is_stored).await;
    assert_eq!(market.balance(payer).await, wei(FMX));

    let bought = till.buy(market, "echo", payer).await;
    till.becomes(&bought, "settled").await;
    assert_eq!(market.balance(payer).await, wei(FMX - PRICE), "only the work that was delivered is paid");
    assert_eq!(market.calls_for(&payment).await, 1, "no call is repeated");
}

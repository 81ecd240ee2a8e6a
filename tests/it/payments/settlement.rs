//! What is paid for is settled, and the vault has what the ledgers say.

use super::{
    FMX, Market, PRICE, Payment, Till, agent,
    market::{OWNER, number},
    until, wei,
};
use crate::e2e::{answer, in_time};
use alloy_primitives::U256;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_testing::{Value, json};
use reqwest::Method;
use std::time::Duration;
use wiremock::ResponseTemplate;

/// The vault's share, in ten thousandths.
const FEE_BPS: u128 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_pays_what_was_sold_to_the_wei() {
    let done = ResponseTemplate::new(200).set_body_string("done");
    let market =
        Market::open(&[agent("echo", done.clone()), agent("slow", done.set_delay(Duration::from_secs(1)))]).await;
    let tills = market.tills(|setup| setup.set("plugins.x402.batch_size", 2)).await;
    for till in &tills {
        let payer = till.payer(&market, 0).await;
        assert_asks_for_payment(&market, till).await;
        assert_altered_vouchers_buy_nothing(&market, till, payer).await;
        sells_two_calls(&market, till, payer).await;
    }
    let sold = wei(2 * PRICE) * U256::from(tills.len());
    let fees = wei(2 * PRICE * FEE_BPS / 10_000) * U256::from(tills.len());
    assert_eq!(market.credits(OWNER).await, sold - fees);
    let vault = market.devnet.facts.contracts["x402Vault"];
    let held = number(&market.devnet.call("eth_getBalance", json!([vault, "latest"])).await.unwrap());
    assert_eq!(held, wei(FMX) * U256::from(tills.len()), "what was settled is still credited in the vault");
    for till in &tills {
        // Each gateway reads the vault's logs of all batches, its own and others'.
        let has_all = async || till.get("/api/stats").await["x402VolumeWei"] == sold.to_string().as_str();
        until("both batches are indexed", has_all).await;
        assert_ledger(&market, till, (sold, fees)).await;
    }
}

async fn assert_asks_for_payment(market: &Market, till: &Till) {
    let asked = till.call("echo", None).await;
    let terms = asked.json();
    let required = &terms["accepts"][0];
    assert_eq!(asked.status, 402, "{}", asked.text());
    assert_eq!(STANDARD.decode(asked.header("payment-required")).unwrap(), asked.body);
    assert_eq!(required["maxAmountRequired"], PRICE.to_string().as_str());
    assert_eq!(required["payTo"], market.account(OWNER));
    assert_eq!(required["resource"], format!("{}/a/echo/invoke", till.gateway.base_url()));
}

async fn assert_altered_vouchers_buy_nothing(market: &Market, till: &Till, payer: &str) {
    let calls = market.calls_of("echo").await;
    let payment = Payment::by(market, till, payer).await;
    let signed: Value = serde_json::from_str(&payment.header()).unwrap();
    let other = market.account("user9");
    for (member, value) in [
        ("payer", json!(other)),
        ("payee", json!(other)),
        ("amount", json!((PRICE + 1).to_string())),
        ("nonce", json!("77")),
        ("expiry", json!(payment.voucher.expiry_s - 60)),
        ("ref", json!(format!("0x{:064x}", 5))),
    ] {
        let mut altered = signed.clone();
        altered["voucher"][member] = value;
        let request = till.request(Method::POST, "/a/echo/invoke", None).header("x-payment", altered.to_string());
        let refused = answer(request.body("{}")).await;
        assert_eq!(refused.status, 402, "{member}: {}", refused.text());
        assert!(refused.json()["error"].is_string(), "{member}: {}", refused.text());
    }
    assert_eq!(till.account(&payment.voucher.payer).await["vouchers"], json!([]));
    assert_eq!(market.calls_of("echo").await, calls);
}

/// The second client leaves before the answer: it pays all the same, because the work was done.
async fn sells_two_calls(market: &Market, till: &Till, payer: &str) {
    let first = till.buy(market, "echo", payer).await;
    assert_eq!(till.voucher(&first).await["status"], "queued");
    assert_eq!(till.account(&first.voucher.payer).await["pendingWei"], PRICE.to_string().as_str());
    assert!(till.refusal("echo", &first).await.contains("its voucher is queued"));

    let second = Payment::by(market, till, payer).await;
    let asking = tokio::spawn(till.invocation("slow", Some(&second)).send());
    until("the agent is called", async || market.calls_for(&second).await == 1).await;
    asking.abort();
    assert!(in_time(asking).await.is_err(), "the client had left before the answer");

    let settled = [till.becomes(&first, "settled").await, till.becomes(&second, "settled").await];
    assert_eq!((market.calls_for(&first).await, market.calls_for(&second).await), (1, 1));
    assert_eq!(settled[0]["txHash"], settled[1]["txHash"], "one batch has both");
    let hash = settled[0]["txHash"].as_str().unwrap();
    let receipt = market.devnet.call("eth_getTransactionReceipt", json!([hash])).await.unwrap();
    let sender = market.account(till.facilitator).to_lowercase();
    assert_eq!((receipt["status"].as_str(), receipt["from"].as_str()), (Some("0x1"), Some(sender.as_str())));
    let again = till.refusal("echo", &first).await;
    assert!(again.contains("settled") && again.contains(hash), "who lost the answer need not pay twice: {again}");
    assert_eq!(market.balance(payer).await, wei(FMX - 2 * PRICE));
    let account = till.account(&first.voucher.payer).await;
    assert_eq!(account["balance"], (FMX - 2 * PRICE).to_string().as_str());
    assert_eq!((&account["pendingWei"], &account["settledCount"]), (&json!("0"), &json!(2)));
}

/// The tables that are derived from the vault's logs say what the vault has.
async fn assert_ledger(market: &Market, till: &Till, (sold, fees): (U256, U256)) {
    let settled = till.rows("SELECT amount, fee FROM x402_settled").await;
    let sum = |column: usize| {
        let amounts = settled.iter().map(|row| row[column].parse::<U256>().unwrap());
        amounts.fold(U256::ZERO, |sum, amount| sum + amount)
    };
    assert_eq!((sum(0), sum(1)), (sold, fees));
    let accounts = till.rows("SELECT payer, balance FROM x402_accounts").await;
    assert_eq!(accounts.len(), 2, "{accounts:?}");
    for account in &accounts {
        let balance = market.vault("balance(address)", &[&account[0]]).await;
        assert_eq!(account[1], balance.to_string(), "of {}", account[0]);
    }
    let payees = till.rows("SELECT payee, volume FROM x402_payees").await;
    assert_eq!(payees, [[market.account(OWNER).to_owned(), sold.to_string()]]);
}

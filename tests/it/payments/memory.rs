//! Memory above the quota: the value and its payment are one transaction.

use super::{FMX, Market, Payment, Till, Voucher, agent, wei};
use crate::e2e::{answer, signed};
use futures_util::future::join_all;
use gateway_tests::process::Setup;
use plugin_testing::{TestResponse, Value, Wallet, json};
use reqwest::Method;
use wiremock::ResponseTemplate;

const FREE_BYTES: u64 = 1000;
const BLOCK_BYTES: u64 = 65_536;
const BLOCK_WEI: u128 = FMX / 100;
const TREASURY: &str = "user10";
/// Two of them are more than a block.
const LARGE: usize = 40_000;

async fn put(till: &Till, wallet: &Wallet, key: &str, value: &str, payment: Option<&Payment>) -> TestResponse {
    let body = signed(wallet, "memory.put", &json!({ "key": key, "value": value }));
    answer(till.request(Method::PUT, &format!("/api/memory/{key}"), payment).body(body.to_string())).await
}

/// Over a block of memory, by this test key.
async fn payment(market: &Market, till: &Till, payer: &str) -> Payment {
    let payee = market.account(TREASURY).to_owned();
    Voucher { payee, amount: BLOCK_WEI, ..Voucher::new(market, payer) }.sign(market, till).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_value_is_stored_with_its_payment_or_not_at_all() {
    let market = Market::open(&[agent("echo", ResponseTemplate::new(200))]).await;
    let sells_memory = |setup: Setup| {
        let setup = setup.set("plugins.memory.free_bytes", FREE_BYTES).set("limits.write_interval_ms", 0);
        setup.set("plugins.memory.treasury", market.account(TREASURY)).set("plugins.x402.batch_size", 1)
    };
    let mut sold = 0;
    for till in market.tills(sells_memory).await {
        let payer = till.payer(&market, 0).await;
        let wallets = [Wallet::new(1), Wallet::new(2)];
        let large = "x".repeat(LARGE);
        let vouchers = async || till.account(market.account(payer)).await["vouchers"].clone();

        let free = put(&till, &wallets[0], "small", "x", None).await;
        assert_eq!(free.status, 201, "{}", free.text());
        let asked = put(&till, &wallets[0], "large", &large, None).await;
        let required = &asked.json()["accepts"][0];
        assert_eq!(asked.status, 402, "{}", asked.text());
        assert_eq!(required["maxAmountRequired"], BLOCK_WEI.to_string().as_str());
        assert_eq!(required["payTo"], market.account(TREASURY));

        let paid = payment(&market, &till, payer).await;
        let reserved = put(&till, &wallets[0], "anchors", &large, Some(&paid)).await;
        assert_eq!((reserved.status, reserved.code().as_str()), (409, "reserved_key"), "{}", reserved.text());
        assert_eq!(vouchers().await, json!([]), "what is not stored is not paid");

        // Two wallets write with one voucher at once.
        let writes = wallets.iter().map(|wallet| put(&till, wallet, "large", &large, Some(&paid)));
        let mut answers = join_all(writes).await;
        answers.sort_by_key(|answer| answer.status);
        let statuses = [answers[0].status, answers[1].status];
        assert_eq!(statuses, [201, 402], "{} {}", answers[0].text(), answers[1].text());
        assert_ne!(answers[0].header("payment-response"), "");
        let stored = answers[0].json();
        assert_eq!(stored["paid"], json!({ "blocks": 1, "bytes": BLOCK_BYTES }));
        assert_eq!(vouchers().await.as_array().map(Vec::len), Some(1));
        assert_credits(&till, &wallets, &stored).await;

        till.becomes(&paid, "settled").await;
        sold += 1;
        assert_eq!(market.balance(payer).await, wei(FMX - BLOCK_WEI));
        assert_eq!(market.credits(TREASURY).await, wei(sold * (BLOCK_WEI - BLOCK_WEI / 100)));
    }
}

/// Only the wallet whose value was stored has room.
async fn assert_credits(till: &Till, wallets: &[Wallet], stored: &Value) {
    for wallet in wallets {
        let is_buyer = stored["address"] == wallet.address();
        let written = put(till, wallet, "next", "y", None).await;
        assert_eq!(written.status, 201, "{}", written.text());
        let bytes = if is_buyer { BLOCK_BYTES } else { 0 };
        assert_eq!(written.json()["paidBytes"], bytes, "{}", written.text());
    }
}

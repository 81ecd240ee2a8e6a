//! Coins of a chain itself: transfers at the top of transactions are paid, once; what comes otherwise is the operator's.

use crate::{CONFIRMATIONS, Site, buyer, deposit_address, each, prices::selling_for_coins};
use plugin_api::{Address, Wei};
use plugin_testing::{ScriptedTx, Value, Wallet, json};

const GWEI: u128 = 1_000_000_000;

/// The first transaction of an account.
fn transaction(from: Address, to: Address, wei: &str) -> ScriptedTx {
    let mut hash = [7; 32];
    hash[..20].copy_from_slice(&from.0);
    let value: Wei = wei.parse().unwrap();
    ScriptedTx { hash, from, nonce: 0, to, value, data: Vec::new(), gas: 21_000, tip: 2 * GWEI, max_fee: 9 * GWEI }
}

fn account(number: u64) -> Address {
    Wallet::new(number).address().parse().unwrap()
}

impl Site {
    /// Mines a block that has this transaction, if any, and after which the deposit address has so much.
    fn mine_coins(&self, sent: Option<ScriptedTx>, balance: &str) {
        self.dev.set_balance_from(self.dev.head() + 1, deposit_address(), balance);
        sent.into_iter().for_each(|transaction| self.dev.push_pending(transaction));
        self.dev.mine_empty(1);
    }
}

fn amount(quote: &Value) -> &str {
    quote["sendExactly"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_of_coins_is_paid_once() {
    each(selling_for_coins(), async |site| {
        site.coins_are_sold().await;
        let quote = site.quote_coins("0.004", &buyer()).await;
        // Next to nothing, another amount, and more blocks than are read one by one; the deposit is sent on in the next block, so that the balance is as before.
        site.dev.push_pending(transaction(account(29), deposit_address(), "1"));
        let other = transaction(account(30), deposit_address(), "4000000000000001");
        site.mine_coins(Some(other), "4000000000000002");
        site.dev.mine_empty(70);
        site.mine_coins(Some(transaction(account(31), deposit_address(), amount(&quote))), "8000000000000002");
        site.mine_coins(Some(transaction(deposit_address(), account(32), amount(&quote))), "4000000000000002");
        site.dev.mine_empty(70);
        let confirmed = site.becomes(&quote, "confirmed").await;
        assert_eq!((&confirmed["assetKind"], &confirmed["token"]), (&json!("native"), &json!(null)));
        let unmatched = site.deposits("unmatched").await;
        let reasons: Vec<_> = unmatched.iter().map(|deposit| (&deposit["amount"], &deposit["reason"])).collect();
        assert_eq!(reasons, [(&json!("0.004000000000000001"), &json!("no open quote has this amount"))]);
        let site = site.restart().await;
        let sent = site.pays(&quote).await;
        assert_eq!(sent.value.to_string(), "196000000000000000000");
        site.paid(&quote).await;

        // One that moves to another block is the same deposit.
        site.coins_are_sold().await;
        let moving = site.quote_coins("0.008", &Wallet::new(12)).await;
        site.mine_coins(Some(transaction(account(33), deposit_address(), amount(&moving))), "12000000000000002");
        site.becomes(&moving, "seen").await;
        site.dev.reorg(1);
        site.dev.mine_empty(2);
        site.pays(&moving).await;
        site.paid(&moving).await;
        site.after_run("scan").await;
        site.after_run("pay").await;
        assert_eq!((site.coins_of(&buyer()).len(), site.coins_of(&Wallet::new(12)).len()), (1, 1));
        assert_eq!(site.deposits("matched").await.len(), 2);
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn coins_without_a_transfer_are_the_operators() {
    each(selling_for_coins(), async |site| {
        site.coins_are_sold().await;
        let quote = site.quote_coins("0.004", &buyer()).await;
        // A transfer that fails moves nothing.
        site.dev.fail_calls(deposit_address());
        site.mine_coins(Some(transaction(account(30), deposit_address(), amount(&quote))), "0");
        // A contract sends exactly what is asked for; then coins leave the address again.
        site.dev.mine_empty(60);
        site.mine_coins(None, amount(&quote));
        site.dev.mine_empty(60);
        site.mine_coins(None, "1000000000000000");
        site.dev.mine_empty(CONFIRMATIONS);
        site.until("the operator sees it", async || site.deposits("unmatched").await.len() == 1).await;
        site.after_run("scan").await;
        site.after_run("pay").await;
        assert_eq!(site.gateway.rows("SELECT decimals FROM payin_deposits").await, ["Int(18)"]);
        let deposits = site.deposits("unmatched").await;
        assert_eq!(
            (deposits.len(), &deposits[0]["amount"], &deposits[0]["asset"]),
            (1, &json!("0.004"), &json!("DEV"))
        );
        assert!(deposits[0]["reason"].as_str().unwrap().contains("no transfer at the top"), "{deposits:?}");
        assert_eq!(site.state(&quote).await["status"], "quoted");
        assert!(site.main.waiting().is_empty() && site.deposits("matched").await.is_empty());

        // The operator has looked: it is paid, once, while its block is there.
        let payload = json!({ "depositId": deposits[0]["depositId"], "quoteId": quote["quoteId"] });
        let resolved = site.operate(&crate::operator(), "deposits/resolve", "payin.resolve", payload).await;
        assert_eq!(resolved.status, 200, "{}", resolved.text());
        site.pays(&quote).await;
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&buyer()).len(), 1);
        site
    })
    .await;
}

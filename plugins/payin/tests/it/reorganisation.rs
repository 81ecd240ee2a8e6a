//! Deposits that leave their chain, at each step.

use crate::{CONFIRMATIONS, DEPTH, Site, buyer, deposit_address, each, operator, selling, transfer};
use plugin_testing::{Fault, ScriptedLog, Value, Wallet, json};

/// The deposit leaves with this many blocks on top of it, and the chain becomes longer without it.
fn drop_deposit(site: &Site, on_top: u64) -> ScriptedLog {
    let mut removed = site.dev.reorg(on_top + 1);
    site.dev.mine_empty(on_top + 2);
    assert_eq!(removed.len(), 1);
    removed.remove(0)
}

async fn quoted(site: &Site, quote: &Value) -> Value {
    let state = site.becomes(quote, "quoted").await;
    assert_eq!((&state["txHashIn"], &state["confirmations"]), (&json!(null), &json!(0)), "{state}");
    state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_leaves_is_taken_back_and_counts_where_it_returns() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.becomes(&quote, "seen").await;
        let log = drop_deposit(&site, 0);
        // A payout that was on its way and never carried out left this mark.
        site.gateway.execute("UPDATE payin_deposits SET lost_at = 1, lost_in = -1").await;
        let state = quoted(&site, &quote).await;
        assert_eq!(state["error"], "its deposit left the chain");
        assert_eq!(site.service().await["lost"], 0, "nothing was paid for it");
        // Its amount is still its own.
        assert_eq!(site.quote_for(&Wallet::new(12), "10").await["sendExactly"], "10000001");

        // Back in another block, it leaves again, and comes back at another height and index.
        site.dev.mine(vec![log]);
        site.becomes(&quote, "seen").await;
        site.dev.mine_empty(1);
        let log = drop_deposit(&site, 1);
        quoted(&site, &quote).await;
        site.dev.mine(vec![transfer(&buyer(), Wallet::new(60).address().parse().unwrap(), "1"), log]);
        site.becomes(&quote, "seen").await;

        // While its payout is held back it leaves with all confirmations.
        site.pause(json!({ "paused": true })).await;
        site.dev.mine_empty(CONFIRMATIONS);
        site.becomes(&quote, "confirmed").await;
        let mut removed = site.dev.reorg(CONFIRMATIONS + 1);
        let log = removed.pop().unwrap();
        site.dev.mine_empty(CONFIRMATIONS + 3);
        quoted(&site, &quote).await;
        site.pause(json!({ "paused": false })).await;
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty(), "nothing is paid for what is gone");

        site.dev.mine(vec![log]);
        site.pays(&quote).await;
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&buyer()).len(), 1);
        assert_eq!(site.gateway.rows("SELECT count(*) FROM payin_deposits").await, ["Int(1)"], "one row for its life");
        site
    })
    .await;
}

/// The alarm of alarms: coins are gone, and so is what was paid for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_leaves_after_its_payout_pauses_its_chain() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.becomes(&quote, "seen").await;
        // Its payout is held back for longer than deposits are watched after theirs.
        site.pause(json!({ "paused": true })).await;
        site.gateway.clock().advance(std::time::Duration::from_secs(90_000)).await;
        site.pause(json!({ "paused": false })).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        // Its grace is over: its amount is free, and another quote has it.
        site.gateway.execute("UPDATE payin_quotes SET expires_at = 1").await;
        site.after_run("scan").await;
        let next = site.quote_for(&Wallet::new(12), "10").await;
        assert_eq!(next["sendExactly"], "10000000");

        let log = drop_deposit(&site, CONFIRMATIONS);
        site.until("it is noticed", async || site.service().await["lost"] == 1).await;
        let service = site.service().await;
        assert_eq!((&service["ok"], &service["unavailableChains"]), (&json!(false), &json!(["dev"])), "{service}");
        assert_eq!(service["chains"]["dev"]["reason"], "it is paused");
        let lost = site.deposits("matched").await;
        assert!(lost[0]["lostAt"].is_i64() && lost[0]["quoteId"] == quote["quoteId"], "{lost:?}");

        // Its transaction may be in another block and transfer something else: that block is scanned again once, not in each run.
        let mut other = transfer(&buyer(), deposit_address(), "9999999");
        other.tx = log.tx;
        site.dev.mine(vec![other]);
        site.dev.mine_empty(1);
        for _ in 0..2 {
            site.after_run("scan").await;
        }
        let position = site.gateway.rows("SELECT scanned_to, hash IS NOT NULL FROM payin_scans").await;
        assert!(position[0].starts_with(&format!("Int({})", site.dev.head())), "{position:?}");
        assert_eq!(site.service().await["lost"], 1);
        site.dev.reorg(2);
        site.dev.mine_empty(3);

        // When its transaction is in another block it is still that of the quote that was paid, and buys nothing again.
        let site = site.restart().await;
        site.dev.mine(vec![log]);
        site.dev.mine_empty(CONFIRMATIONS + 1);
        site.until("it is back", async || site.service().await["lost"] == 0).await;
        site.pause(json!({ "chain": "dev", "paused": false })).await;
        for job in ["scan", "pay", "follow"] {
            site.after_run(job).await;
        }
        assert_eq!(site.state(&next).await["status"], "quoted");
        assert!(site.main.waiting().is_empty());
        assert_eq!(site.main.mined().len(), 1);

        // The chain goes on: the other quote's own deposit counts.
        site.dev.mine(vec![transfer(&operator(), deposit_address(), "10000000")]);
        site.pays(&next).await;
        site.paid(&next).await;
        site
    })
    .await;
}

/// The payout itself leaves the main chain and is included again: it is one payout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payout_that_is_reorganised_is_paid_once() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.pays(&quote).await;
        site.main.mine_empty(2);
        let mined = async || site.state(&quote).await["txHashOut"].is_string();
        site.until("it is mined", mined).await;
        assert_eq!(site.state(&quote).await["status"], "confirmed", "not before it is final");
        site.main.reorg(2);
        site.main.mine_empty(1);
        site.main.mine_empty(2 + DEPTH);
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&buyer()).len(), 1);
        site
    })
    .await;
}

/// Servers that are behind, or have pruned their receipts, say nothing about the deposit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_whose_receipt_is_lacking_is_neither_gone_nor_lost() {
    each(selling(), async |site| {
        let receipts_are_null = |are_null: bool| {
            for server in [&site.dev, &site.second] {
                server.fail_always(are_null.then_some(Fault::NullOn("eth_getTransactionReceipt")));
            }
        };
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.pause(json!({ "paused": true })).await;
        // More blocks than a scan reads again.
        site.dev.mine_empty(3 * CONFIRMATIONS);
        site.becomes(&quote, "confirmed").await;
        receipts_are_null(true);
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "confirmed");
        site.pause(json!({ "paused": false })).await;
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty(), "nothing is paid for what is not proven");
        receipts_are_null(false);
        site.pays(&quote).await;
        site.paid(&quote).await;

        receipts_are_null(true);
        site.after_run("scan").await;
        let service = site.service().await;
        assert_eq!((&service["lost"], &service["unavailableChains"]), (&json!(0), &json!([])), "{service}");
        site
    })
    .await;
}

/// It moves to an earlier block than the scan goes back to, and its quote's grace is over: that block is scanned before the quote may expire.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_moved_far_back_is_found_before_its_quote_expires() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.pause(json!({ "paused": true })).await;
        let later = 300;
        site.dev.mine_empty(later);
        site.becomes(&quote, "confirmed").await;
        site.after_run("scan").await;
        let log = site.dev.reorg(later + 1).remove(0);
        site.dev.mine_empty(1);
        site.dev.mine(vec![log]);
        site.dev.mine_empty(later + 1);
        let statuses = async || -> Vec<String> {
            let state = site.state(&quote).await;
            let history = state["history"].as_array().unwrap();
            history.iter().map(|change| change["status"].as_str().unwrap().to_owned()).collect()
        };
        site.until("it is confirmed again", async || statuses().await.len() >= 6).await;
        assert_eq!(statuses().await, ["quoted", "seen", "confirmed"].repeat(2));
        site.pause(json!({ "paused": false })).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

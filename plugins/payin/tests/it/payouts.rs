//! What holds a payout back, and payouts that fail. A quote that is held back waits, with the reason.

use crate::{CONFIRMATIONS, PAYIN, Site, buyer, deposit_address, each, operator, selling, transfer};
use plugin_api::Address;
use plugin_testing::{Fault, Value, Wallet, json};
use std::time::Duration;

fn address(wallet: &Wallet) -> Address {
    wallet.address().parse().unwrap()
}

/// A confirmed quote, which says this as its error.
async fn held(site: &Site, quote: &Value, reason: &str) {
    site.dev.mine_empty(CONFIRMATIONS);
    let says = async || {
        let state = site.state(quote).await;
        state["status"] == "confirmed" && state["error"].as_str().is_some_and(|error| error.contains(reason))
    };
    site.until(reason, says).await;
    assert!(site.main.waiting().iter().all(|tx| tx.to.to_string() != quote["to"].as_str().unwrap()));
}

/// When the quote is looked at again, by the clock of the gateway.
async fn retry_in_s(site: &Site, quote: &Value) -> i64 {
    let retry_at = format!("SELECT retry_at FROM payin_quotes WHERE id = '{}'", quote["quoteId"].as_str().unwrap());
    let rows = site.gateway.rows(&retry_at).await;
    let retry_at: i64 = rows[0].trim_start_matches("Int(").trim_end_matches(')').parse().unwrap();
    retry_at - site.gateway.now_s()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caps_hold_payouts_back_and_fail_none() {
    let mut config = selling();
    // An hour has room for two payouts of 196 coins, a day for three.
    config["hour_max_wei"] = json!("400000000000000000000");
    config["day_max_wei"] = json!("600000000000000000000");
    config["payout_max_wei"] = json!("200000000000000000000");
    each(config, async |site| {
        let buyers: Vec<Wallet> = (20..24).map(Wallet::new).collect();
        let mut quotes = Vec::new();
        for buyer in &buyers {
            quotes.push(site.quote_for(buyer, "10").await);
        }
        for quote in &quotes {
            site.deposit(quote);
        }
        site.dev.mine_empty(CONFIRMATIONS);
        site.until("two are sent", async || site.main.waiting().len() == 2).await;
        let reasons = async |reason: &str| {
            let mut count = 0;
            for quote in &quotes {
                count += usize::from(site.state(quote).await["error"].as_str() == Some(reason));
            }
            count
        };
        site.until("two wait", async || reasons("all payouts of this hour are made").await == 2).await;
        let again =
            "SELECT count(*) FROM payin_quotes WHERE error = 'all payouts of this hour are made' AND retry_at >= ";
        let next_hour_s = site.gateway.now_s() / 3600 * 3600 + 3600;
        assert_eq!(site.gateway.rows(&format!("{again}{next_hour_s}")).await, ["Int(2)"], "until the hour is over");
        // The counters survive a restart, and so does the reason.
        let site = site.restart().await;
        site.main.mine_empty(2 + crate::DEPTH);
        site.gateway.clock().advance(Duration::from_secs(3600)).await;
        site.until("the next hour pays one", async || site.main.waiting().len() == 1).await;
        let reasons = async || {
            let rows = "SELECT count(*) FROM payin_quotes WHERE error = 'all payouts of this day are made'";
            site.gateway.rows(rows).await == ["Int(1)"]
        };
        site.until("the day has room for no more", reasons).await;
        site.main.mine_empty(2 + crate::DEPTH);
        assert_eq!(site.main.mined().len(), 3);
        // The clock goes on to midnight.
        site.gateway.clock().advance(Duration::from_secs(86_400)).await;
        site.until("the next day pays the last", async || site.main.waiting().len() == 1).await;
        for quote in &quotes {
            site.paid(quote).await;
        }
        for buyer in &buyers {
            assert_eq!(site.coins_of(buyer).len(), 1);
        }
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payout_may_be_as_large_as_the_caps_and_no_larger() {
    let mut config = selling();
    for cap in ["payout_max_wei", "hour_max_wei", "day_max_wei"] {
        config[cap] = json!("196000000000000000000");
    }
    each(config, async |site| {
        let quote = site.quote_for(&Wallet::new(20), "10").await;
        site.deposit(&quote);
        site.pays(&quote).await;
        site.paid(&quote).await;
        // More arrives than was quoted, and an operator gives it to the quote.
        let small = site.quote_for(&Wallet::new(21), "9").await;
        site.dev.mine(vec![transfer(&buyer(), deposit_address(), "11000000")]);
        site.until("it is left", async || site.deposits("unmatched").await.len() == 1).await;
        let id = site.deposits("unmatched").await[0]["depositId"].clone();
        let assign = json!({ "depositId": id, "quoteId": small["quoteId"] });
        let done = site.operate(&operator(), "deposits/resolve", "payin.resolve", assign).await;
        assert_eq!(done.status, 200, "{}", done.text());
        held(&site, &small, "more than one payout may be").await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn funds_and_refusals_hold_payouts_back() {
    each(selling(), async |site| {
        // The account can pay one of two.
        site.main.set_balance(address(&Wallet::new(PAYIN)), "393000000000000000000");
        let (one, other) = (site.quote_for(&Wallet::new(20), "10").await, site.quote_for(&Wallet::new(21), "10").await);
        site.main.set_balance(address(&Wallet::new(PAYIN)), "200000000000000000000");
        site.main.hold(true);
        site.deposit(&one);
        site.pays(&one).await;
        site.deposit(&other);
        held(&site, &other, "not enough coins").await;
        // What is promised is not sold again.
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": Wallet::new(22).address() });
        crate::assert_refused(&site.ask(body).await, 503, "no_coins");

        // Then its recipient refuses.
        site.main.refuse_calls(address(&Wallet::new(21)), true);
        site.main.set_balance(address(&Wallet::new(PAYIN)), "1000000000000000000000");
        let says =
            async || site.state(&other).await["error"].as_str().is_some_and(|error| error.contains("would fail"));
        site.until("it says so", says).await;
        site.main.refuse_calls(address(&Wallet::new(21)), false);
        site.gateway.clock().advance(Duration::from_secs(3600)).await;
        site.until("it is tried again after an hour", async || site.main.waiting().len() == 2).await;
        site.main.hold(false);
        site.paid(&one).await;
        site.paid(&other).await;
        assert_eq!(site.main.mined().len(), 2);
        site
    })
    .await;
}

/// With less gas than its code takes, the transfer would fail in its block.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recipient_that_takes_too_much_gas_is_not_paid() {
    each(selling(), async |site| {
        let (dear, cheap) = (Wallet::new(20), Wallet::new(21));
        site.main.set_estimate(address(&dear), 60_001);
        site.main.set_estimate(address(&cheap), 60_000);
        let quote = site.quote_for(&dear, "10").await;
        site.deposit(&quote);
        held(&site, &quote, "the transfer takes 60001 gas, at most 60000 are paid").await;
        assert!((1800..=3600).contains(&retry_in_s(&site, &quote).await), "it is tried again after an hour");
        let quote = site.quote_for(&cheap, "10").await;
        site.deposit(&quote);
        site.pays(&quote).await;
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&dear), Vec::<String>::new());
        site
    })
    .await;
}

/// It cost its gas and moved nothing; nobody but a person repeats it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payout_that_reverts_has_failed() {
    each(selling(), async |site| {
        site.main.fail_calls(address(&buyer()));
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.pays(&quote).await;
        site.main.mine_empty(2 + crate::DEPTH);
        let failed = site.becomes(&quote, "failed").await;
        assert!(failed["error"].as_str().unwrap().contains("failed in its block"), "{failed}");
        let service = site.service().await;
        assert_eq!((&service["ok"], &service["failed"]), (&json!(false), &json!(1)), "{service}");
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty());
        assert!(site.gateway.events().await.iter().all(|event| event.kind != "payin.paid"));
        site
    })
    .await;
}

/// No server takes the transfer, and an empty one uses up its nonce: nothing was paid, so it is paid an hour later, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payout_that_was_never_sent_is_repeated_after_an_hour() {
    each(selling(), async |site| {
        let to = address(&buyer());
        site.main.refuse_transactions("intrinsic gas too low", move |tx| tx.to == to);
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.dev.mine_empty(CONFIRMATIONS);
        let is_cancelled = async || site.main.waiting().iter().any(|tx| tx.to != to);
        site.until("an empty transfer takes its nonce", is_cancelled).await;
        site.main.accept_transactions();
        site.main.mine_empty(2 + crate::DEPTH);
        held(&site, &quote, "the transfer was not sent, and is repeated").await;
        assert_eq!(counted(&site).await, ["Int(0) Int(0)"], "what was not paid uses up no cap");
        assert!((1800..=3600).contains(&retry_in_s(&site, &quote).await), "after an hour");
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty(), "not before");
        site.gateway.clock().advance(Duration::from_secs(3600)).await;
        site.until("it is sent", async || site.main.waiting().len() == 1).await;
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&buyer()), [quote["fmxOut"].as_str().unwrap()]);
        assert_ne!(counted(&site).await, ["Int(0) Int(0)"]);
        site
    })
    .await;
}

/// What the caps of an hour and of a day have counted in all.
async fn counted(site: &Site) -> Vec<String> {
    let of = |name: &str| format!("(SELECT cast(sum(used) AS BIGINT) FROM payin_counters WHERE name = '{name}')");
    site.gateway.rows(&format!("SELECT {}, {}", of("hour"), of("day"))).await
}

/// The longer it has waited, the less often it is looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payout_that_cannot_be_checked_waits_for_a_part_of_its_age() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.main.fail_always(Some(Fault::Status(502)));
        site.deposit(&quote);
        held(&site, &quote, "cannot be checked now").await;
        assert!(retry_in_s(&site, &quote).await <= 60);
        site.gateway.clock().advance(Duration::from_secs(12 * 3600)).await;
        site.until("it is looked at again", async || retry_in_s(&site, &quote).await > 0).await;
        // A 24th of twelve hours.
        assert!((1000..=1900).contains(&retry_in_s(&site, &quote).await), "{}", retry_in_s(&site, &quote).await);
        site.main.fail_always(None);
        site.gateway.clock().advance(Duration::from_secs(1900)).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

/// Blocks above its own left the chain after it was confirmed: the last look before the payout counts them again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_lost_confirmations_is_paid_when_it_has_them_again() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.pause(json!({ "paused": true })).await;
        site.dev.mine_empty(CONFIRMATIONS);
        site.becomes(&quote, "confirmed").await;
        // Its block is the newest but one.
        let removed = site.dev.reorg(CONFIRMATIONS);
        assert!(removed.is_empty(), "the deposit stays");
        site.dev.mine_empty(1);
        site.pause(json!({ "paused": false })).await;
        let waits = async || site.state(&quote).await["error"] == "its deposit is not where it was";
        site.until("it waits for its confirmations", waits).await;
        assert_eq!(site.state(&quote).await["status"], "confirmed");
        assert!(site.main.waiting().is_empty(), "nothing is paid before");
        site.pays(&quote).await;
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&buyer()), [quote["fmxOut"].as_str().unwrap()]);
        site
    })
    .await;
}

//! Which quote a deposit is for.

use crate::{CONFIRMATIONS, buyer, deposit_address, each, operator, selling, transfer};
use plugin_testing::{Value, Wallet, json};
use std::time::Duration;

/// Otherwise, who sees a deposit that nobody asked for could ask for its amount, and have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_is_for_an_earlier_quote_of_its_chain_and_token_in_its_time() {
    each(selling(), async |site| {
        let deposit = async |amount: &str, change: &dyn Fn(u64, u64) -> String| {
            let quote = site.quote(amount).await;
            let (block, id) = (site.dev.head() + 1, quote["quoteId"].as_str().unwrap());
            let change = change(block, 1_767_225_600 + 7 * block);
            site.gateway.execute(&format!("UPDATE payin_quotes SET {change} WHERE id = '{id}'")).await;
            site.deposit(&quote);
            quote
        };
        let other = "0x0000000000000000000000000000000000000009";
        deposit("10", &|_, _| "chain = 'elsewhere'".to_owned()).await;
        deposit("11", &|_, _| format!("token = '{other}'")).await;
        deposit("12", &|block, _| format!("position = {block}")).await;
        deposit("13", &|_, time| format!("expires_at = {}", time - 601)).await;
        let last = deposit("14", &|block, time| format!("position = {}, expires_at = {}", block - 1, time - 600)).await;
        site.becomes(&last, "seen").await;
        site.until("nobody asked for the others", async || site.deposits("unmatched").await.len() == 4).await;
        site
    })
    .await;
}

/// Somebody who sends the amount of a paid quote once more would buy coins for whoever asked for it next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_amount_is_nobody_elses_until_the_grace_is_over() {
    each(selling(), async |site| {
        let sends = |quote: &Value| quote["sendExactly"].as_str().unwrap().to_owned();
        let (paid, ended) = (site.quote("10").await, site.quote_for(&Wallet::new(12), "20").await);
        site.deposit(&paid);
        site.pays(&paid).await;
        site.paid(&paid).await;
        site.pause(json!({ "paused": true })).await;
        site.deposit(&ended);
        site.becomes(&ended, "seen").await;
        let deposits = site.deposits("matched").await;
        let deposit = deposits.iter().find(|deposit| deposit["quoteId"] == ended["quoteId"]).unwrap();
        let end = json!({ "depositId": deposit["depositId"], "endQuote": true });
        assert_eq!(site.operate(&operator(), "deposits/resolve", "payin.resolve", end).await.status, 200);
        site.pause(json!({ "paused": false })).await;

        site.after_run("scan").await;
        let (other, third) = (Wallet::new(13), Wallet::new(14));
        let next = site.quote_for(&other, "10").await;
        assert_eq!((&*sends(&next), &*sends(&site.quote_for(&third, "20").await)), ("10000001", "20000001"));
        site.deposit(&paid);
        site.dev.mine_empty(CONFIRMATIONS);
        site.until("it is the operator's", async || site.deposits("unmatched").await.len() == 2).await;
        assert_eq!(site.state(&next).await["status"], "quoted");

        // All confirmations are past the grace of both, by the time of blocks.
        let over = ended["expiresAt"].as_u64().unwrap() + 600 - 1_767_225_600;
        while site.dev.head() <= over / 7 + CONFIRMATIONS {
            site.dev.mine_empty(1);
        }
        site.after_run("scan").await;
        let (one, two) = (site.quote_for(&other, "10").await, site.quote_for(&third, "20").await);
        assert_eq!((&*sends(&one), &*sends(&two)), ("10000000", "20000000"));
        assert_eq!((site.coins_of(&buyer()).len(), site.main.mined().len()), (1, 1));
        site
    })
    .await;
}

/// A round amount is what people send who did not read theirs: with dust always it is nobody's, and what is sent with dust buys for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_dust_always_a_round_amount_is_nobodys() {
    let mut config = selling();
    config["dust"] = json!("always");
    each(config, async |site| {
        let (first, second) = (site.quote("10").await, site.quote_for(&Wallet::new(12), "9.999999").await);
        let sends = |quote: &Value| quote["sendExactly"].as_str().unwrap().to_owned();
        assert_eq!((&*sends(&first), &*sends(&second)), ("10000001", "10000002"), "neither 10 nor what another has");
        for round in ["10000000", "10010000"] {
            site.dev.mine(vec![transfer(&buyer(), deposit_address(), round)]);
        }
        site.until("they are the operator's", async || site.deposits("unmatched").await.len() == 2).await;
        assert_eq!(site.state(&first).await["status"], "quoted");
        for quote in [&second, &first] {
            site.deposit(quote);
            site.pays(quote).await;
            site.paid(quote).await;
        }
        // 10.000001 and 10.000002 USD, less 2 %, at 0.05 USD.
        let coins = [site.coins_of(&buyer()), site.coins_of(&Wallet::new(12))];
        assert_eq!(coins, [["196000019600000000000"], ["196000039200000000000"]]);
        site
    })
    .await;
}

/// What one run leaves over does not wait for the next interval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_blocks_and_deposits_than_one_run_takes_are_worked_through_at_once() {
    const DEPOSITS: usize = 45;
    const RUNS: i64 = 4;
    each(selling(), async |site| {
        site.dev.mine_empty(12_000);
        let deposits =
            (0..DEPOSITS).map(|number| transfer(&buyer(), deposit_address(), &(7_000_000 + number).to_string()));
        site.dev.mine(deposits.collect());
        let first = site.runs("scan").await;
        // Until the first run is due; no transaction lasts that long.
        for _ in 0..20 {
            site.gateway.clock().advance(Duration::from_secs(1)).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for run in 1..=RUNS {
            let ends = async {
                while site.runs("scan").await < first + run && site.deposits("unmatched").await.len() < DEPOSITS {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            assert!(tokio::time::timeout(crate::MINUTE, ends).await.is_ok(), "run {run} waits for its interval");
            site.gateway.clock().advance(Duration::from_secs(1)).await;
        }
        assert_eq!(site.deposits("unmatched").await.len(), DEPOSITS);
        site
    })
    .await;
}

//! Which quote a deposit is for.

use crate::{buyer, deposit_address, each, selling, transfer};
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

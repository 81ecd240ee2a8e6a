//! Reorganisations of every depth around the confirmations, of deposits that have any number of them: nothing is paid for what is gone, and
//! nothing twice.

use crate::{CONFIRMATIONS, Site, each, selling};
use plugin_testing::{Wallet, json};

/// More blocks than any of these reorganisations takes.
const APART: u64 = CONFIRMATIONS + 4;

async fn whatever_depth(confirmations: u64) {
    let mut config = selling();
    for cap in ["hour_max_wei", "day_max_wei"] {
        config[cap] = json!("1000000000000000000000000");
    }
    each(config, async |site| {
        let depths = 1..=CONFIRMATIONS + 2;
        for depth in depths.clone() {
            disturb(&site, Wallet::new(100 + depth), (confirmations, depth)).await;
        }
        for job in ["scan", "pay"] {
            site.after_run(job).await;
        }
        site.main.mine_empty(1);
        assert_eq!(site.main.mined().len() as u64, depths.count() as u64, "one payout for each");
        assert_eq!(site.service().await["lost"], 0);
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_in_the_newest_block_is_paid_once() {
    whatever_depth(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_lacks_a_confirmation_is_paid_once() {
    whatever_depth(CONFIRMATIONS - 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_with_all_confirmations_is_paid_once() {
    whatever_depth(CONFIRMATIONS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_with_more_than_all_confirmations_is_paid_once() {
    whatever_depth(CONFIRMATIONS + 1).await;
}

/// A deposit with so many confirmations meets a reorganisation of this depth; what it removes is mined again, once the gateway has noticed.
async fn disturb(site: &Site, to: Wallet, (confirmations, depth): (u64, u64)) {
    let (case, is_removed) = (format!("{confirmations} confirmations, {depth} blocks"), depth >= confirmations);
    site.dev.mine_empty(APART);
    // A client may ask for 20 quotes in a minute.
    site.gateway.set_client_ip(format!("203.0.113.{}", 10 * confirmations + depth).parse().unwrap());
    let quote = site.quote_for(&to, "10").await;
    site.deposit(&quote);
    site.dev.mine_empty(confirmations - 1);
    let is_sent = || site.main.waiting().iter().any(|tx| tx.to.to_string() == to.address());
    let is_paid_early = confirmations >= CONFIRMATIONS;
    if is_paid_early {
        site.until(&format!("{case}: coins are sent"), async || is_sent()).await;
    } else {
        let has = async || site.state(&quote).await["confirmations"] == confirmations;
        site.until(&format!("{case}: it is seen"), has).await;
        assert_eq!((&site.state(&quote).await["status"], is_sent()), (&json!("seen"), false), "{case}");
    }
    let removed = site.dev.reorg(depth);
    site.dev.mine_empty(depth + 1);
    assert_eq!(removed.len(), usize::from(is_removed), "{case}");
    if is_removed && is_paid_early {
        site.until(&format!("{case}: it is lost"), async || site.service().await["lost"] == 1).await;
        assert_eq!(site.service().await["chains"]["dev"]["reason"], "it is paused", "{case}");
        site.dev.mine(removed);
        site.until(&format!("{case}: it is back"), async || site.service().await["lost"] == 0).await;
        site.pause(json!({ "chain": "dev", "paused": false })).await;
    } else if is_removed {
        let state = site.becomes(&quote, "quoted").await;
        assert_eq!((&state["txHashIn"], is_sent()), (&json!(null), false), "{case}");
        site.dev.mine(removed);
    }
    site.dev.mine_empty(CONFIRMATIONS);
    if !is_paid_early {
        site.until(&format!("{case}: coins are sent"), async || is_sent()).await;
    }
    site.paid(&quote).await;
    assert_eq!(site.coins_of(&to), [quote["fmxOut"].as_str().unwrap()], "{case}");
}

//! What comes to the address of a quote that is over is found once a day for 90 days: the operator decides about it.

use crate::{
    CONFIRMATIONS, Site, buyer, each,
    list_addresses::{own, with_own_addresses},
    transfer,
};
use plugin_testing::{Value, json};
use std::time::Duration;

const DAY_S: i64 = 86_400;
const GRACE_S: i64 = 600;
const STEPS_MAX: usize = 400;

/// An unpaid quote that has expired.
async fn expired(site: &Site) -> Value {
    let quote = site.quote("10").await;
    site.gateway.clock().advance(Duration::from_secs(1600)).await;
    // A block each 7 s: all confirmations are past the grace.
    let over = quote["expiresAt"].as_u64().unwrap() + 600 - 1_767_225_600;
    while site.dev.head() <= over / 7 + CONFIRMATIONS {
        site.dev.mine_empty(1);
    }
    site.becomes(&quote, "expired").await
}

/// Sends to the address, with confirmations.
fn send(site: &Site, quote: &Value, units: &str) {
    site.dev.mine(vec![transfer(&buyer(), own(quote), units)]);
    site.dev.mine_empty(CONFIRMATIONS + 1);
}

/// As [`Site::until`], more slowly: a scan that takes two minutes by the gateway's clock is cut off, and late deposits are its last part.
async fn until(site: &Site, what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..STEPS_MAX {
        if holds().await {
            return;
        }
        site.gateway.clock().advance(Duration::from_secs(5)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what}: not in time");
}

async fn number(site: &Site, select: &str) -> i64 {
    site.gateway.rows(select).await[0].trim_start_matches("Int(").trim_end_matches(')').parse().unwrap()
}

/// When the next search is due.
async fn due_at(site: &Site) -> i64 {
    number(site, "SELECT late_at FROM payin_addresses").await
}

async fn pass_until(site: &Site, time_s: i64) {
    let left_s = u64::try_from(time_s - site.gateway.now_s()).unwrap_or_default();
    site.gateway.clock().advance(Duration::from_secs(left_s)).await;
}

/// Lets a scan begin and end.
async fn scan(site: &Site) {
    for _ in 0..2 {
        let ended_at = async || number(site, "SELECT last_ok_at FROM payin_scans WHERE chain = 'dev'").await;
        let before = ended_at().await;
        until(site, "a scan ends", async || ended_at().await > before).await;
    }
}

/// Lets time pass until the search that is due has ended.
async fn search(site: &Site) {
    let due = due_at(site).await;
    pass_until(site, due).await;
    until(site, "it is searched", async || due_at(site).await != due).await;
}

/// Why a deposit is the operator's; none while it is not found.
async fn reason(site: &Site, units: &str) -> Option<String> {
    let found = site.deposits("unmatched").await.into_iter().find(|deposit| deposit["units"] == units)?;
    found["reason"].as_str().map(ToOwned::to_owned)
}

/// After a search.
async fn assert_found(site: &Site, units: &str, expected: &str) {
    until(site, "it is the operator's", async || reason(site, units).await.is_some()).await;
    let reason = reason(site, units).await.unwrap();
    assert!(reason.contains(expected), "{reason}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_deposits_are_found_daily_for_90_days() {
    each(with_own_addresses(), async |site| {
        let quote = expired(&site).await;
        let expires_at = quote["expiresAt"].as_i64().unwrap();
        assert_eq!(due_at(&site).await, expires_at + GRACE_S + DAY_S, "the first search is a day after its end");
        send(&site, &quote, "1000000");
        scan(&site).await;
        assert_eq!(reason(&site, "1000000").await, None, "not before");
        search(&site).await;
        assert_found(&site, "1000000", "has a deposit, or is over").await;
        let next = due_at(&site).await;
        assert!((DAY_S / 2..=DAY_S).contains(&(next - site.gateway.now_s())), "{next}");

        // Once a day: what comes a moment after a search waits for the next one.
        send(&site, &quote, "2000000");
        scan(&site).await;
        assert_eq!(reason(&site, "2000000").await, None, "tomorrow");
        search(&site).await;
        assert_found(&site, "2000000", "has a deposit, or is over").await;

        // Its quote is deleted by now.
        let before = due_at(&site).await;
        pass_until(&site, expires_at + 88 * DAY_S).await;
        until(&site, "it is searched", async || due_at(&site).await != before).await;
        scan(&site).await;
        assert_eq!(site.gateway.rows("SELECT count(*) FROM payin_quotes").await, ["Int(0)"]);
        send(&site, &quote, "3000000");
        // A scan that began before it searches older blocks, and the next search is after the 90 days.
        scan(&site).await;
        search(&site).await;
        assert_found(&site, "3000000", "ended long ago").await;

        send(&site, &quote, "4000000");
        for days in [91, 93] {
            pass_until(&site, expires_at + days * DAY_S).await;
            scan(&site).await;
        }
        let found = site.gateway.rows("SELECT units FROM payin_deposits ORDER BY id").await;
        let expected = ["1000000", "2000000", "3000000"].map(|units| format!("Text(\"{units}\")"));
        assert_eq!(found, expected, "after 90 days nobody looks");
        assert_eq!(site.service().await["chains"]["dev"]["ok"], json!(true));
        site
    })
    .await;
}

//! After a restored backup: it does not know which addresses were given after it, and what was paid.

use crate::{
    CONFIRMATIONS, Site, buyer, each,
    list_addresses::{XPUB, own, with_own_addresses},
    selling,
};
use plugin_testing::{Value, Wallet, json};
use xpub_address::ExtendedPublicKey;

/// Indexes that are left out.
const GAP: i64 = 1_000_000;

async fn index_of(site: &Site, wallet: u64) -> i64 {
    let quote: Value = site.quote_for(&Wallet::new(wallet), "10").await;
    let rows = format!("SELECT address_index FROM payin_addresses WHERE address = '{}'", own(&quote));
    let index = site.gateway.rows(&rows).await[0].trim_start_matches("Int(").trim_end_matches(')').parse().unwrap();
    let addresses = ExtendedPublicKey::parse(XPUB).unwrap().child(0).unwrap();
    assert_eq!(addresses.address(index), Some(own(&quote)), "{index}");
    index
}

/// The same, and an operator has checked what was paid.
async fn restored(site: Site) -> Site {
    let site = unchecked(site).await;
    site.pause(json!({ "paused": false })).await;
    site
}

/// Records a restore, as `gateway restore` does, and starts again.
async fn unchecked(site: Site) -> Site {
    let restored_ms = site.gateway.now_s() * 1000;
    site.gateway.execute(&format!("INSERT INTO host_restores (restored_ms) VALUES ({restored_ms})")).await;
    let site = site.restart().await;
    site.after_run("scan").await;
    site.after_run("pay").await;
    site
}

/// A backup knows quotes as confirmed that were paid after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_paid_before_an_operator_has_checked_what_was_paid() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        let site = unchecked(site).await;
        site.dev.mine_empty(CONFIRMATIONS);
        site.becomes(&quote, "confirmed").await;
        let is_held = async || site.state(&quote).await["error"] == "payouts are paused";
        site.until("it is held", is_held).await;
        let ask = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": Wallet::new(21).address() });
        let refused = site.ask(ask).await;
        assert_eq!(refused.status, 503, "{}", refused.text());
        let site = site.restart().await;
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty(), "a restart resumes nothing");
        site.pause(json!({ "paused": false })).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        assert_eq!(site.coins_of(&buyer()), [quote["fmxOut"].as_str().unwrap()]);
        let site = site.restart().await;
        site.after_run("pay").await;
        site.quote_for(&Wallet::new(21), "10").await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_addresses_are_left_out_after_each_restore() {
    each(with_own_addresses(), async |site| {
        assert_eq!((index_of(&site, 20).await, index_of(&site, 21).await), (0, 1));
        let site = site.restart().await;
        site.after_run("scan").await;
        assert_eq!(index_of(&site, 22).await, 2, "a restart leaves none out");
        let site = restored(site).await;
        assert_eq!((index_of(&site, 23).await, index_of(&site, 24).await), (GAP + 3, GAP + 4), "once");
        site.gateway.clock().advance(std::time::Duration::from_secs(60)).await;
        let site = restored(site).await;
        assert_eq!(index_of(&site, 25).await, 2 * GAP + 5);
        site
    })
    .await;
}

/// The backup is older than the first address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_database_without_the_account_leaves_a_million_out_too() {
    each(with_own_addresses(), async |site| {
        assert_eq!(index_of(&site, 20).await, 0);
        for table in ["payin_accounts", "payin_addresses", "payin_history", "payin_quotes"] {
            site.gateway.execute(&format!("DELETE FROM {table}")).await;
        }
        let site = restored(site).await;
        assert_eq!((index_of(&site, 20).await, index_of(&site, 21).await), (GAP, GAP + 1));
        assert_eq!(site.gateway.rows("SELECT next_index FROM payin_accounts").await, [format!("Int({})", GAP + 2)]);
        site
    })
    .await;
}

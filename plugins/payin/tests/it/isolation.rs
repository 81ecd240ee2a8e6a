//! A quote or a deposit that cannot be read holds no other one up.

use crate::{CONFIRMATIONS, each, selling};
use plugin_testing::{Wallet, json};

/// A deposit to be matched, before all others, that no program can read.
const DEPOSIT: &str = "INSERT INTO payin_deposits (chain, asset, token, address, tx, ordinal, log_index, block, block_hash, block_time, sender, \
     units, units_key, state, checks, check_at, seen_at, found_at) VALUES ('dev', 'USDX', 'x', 'x', 'x', 1, 0, 0, 'x', 0, 'x', 'x', 'x', 'new', \
     0, 0, 0, 0)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_cannot_be_read_are_left_out() {
    each(selling(), async |site| {
        let (broken, whole) = (site.quote("10").await, site.quote_for(&Wallet::new(12), "20").await);
        site.gateway.execute(DEPOSIT).await;
        site.deposit(&broken);
        site.deposit(&whole);
        for quote in [&broken, &whole] {
            site.becomes(quote, "seen").await;
        }
        let id = broken["quoteId"].as_str().unwrap();
        let listed = (site.deposits("new").await.len(), site.deposits("matched").await.len());
        assert_eq!(listed, (0, 2), "lists leave it out");
        // Quotes of nearly the same amount are given, and its amount is still its own.
        site.gateway.execute(&format!("UPDATE payin_quotes SET send = 'x' WHERE id = '{id}'")).await;
        assert_eq!(site.quote_for(&Wallet::new(13), "10").await["sendExactly"], "10000001");
        site.gateway.execute(&format!("UPDATE payin_quotes SET send = '10000000' WHERE id = '{id}'")).await;
        site.gateway.execute(&format!("UPDATE payin_quotes SET decimals = 300 WHERE id = '{id}'")).await;
        site.dev.mine_empty(CONFIRMATIONS);
        site.becomes(&whole, "confirmed").await;
        // A confirmed one, too.
        site.gateway.execute(&format!("UPDATE payin_quotes SET status = 'confirmed' WHERE id = '{id}'")).await;
        site.pays(&whole).await;
        site.paid(&whole).await;
        assert_eq!(site.main.mined().len(), 1);
        let reason = site.gateway.rows(&format!("SELECT error FROM payin_quotes WHERE id = '{id}'")).await;
        assert!(reason[0].contains("cannot be processed"), "{reason:?}");
        assert_eq!(site.service().await["chains"]["dev"]["ok"], true);

        // Repaired, it goes on.
        site.gateway.execute(&format!("UPDATE payin_quotes SET decimals = 6, retry_at = 0 WHERE id = '{id}'")).await;
        site.pays(&broken).await;
        site.paid(&broken).await;
        assert_eq!(site.service().await["paid"], json!(2));
        site
    })
    .await;
}

//! Anybody can send as many transfers to the deposit address as he likes.

use crate::{CONFIRMATIONS, buyer, deposit_address, each, selling, transfer};
use plugin_testing::{ScriptedLog, Wallet, json};

/// Of less than half a USD, which cost nothing, and of one USD each, which the operator keeps. Both are before the deposit of somebody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_of_others_hold_no_deposit_up() {
    const LARGE: usize = 600;
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        let of = |units: &str| transfer(&Wallet::new(77), deposit_address(), units).in_transaction("many");
        let mut logs: Vec<ScriptedLog> = vec![of("499999"); 1500];
        logs.extend(vec![of("1000000"); LARGE]);
        site.dev.mine(logs);
        site.deposit(&quote);
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "seen", "it is matched before those that no quote waits for");
        let stored = |and: &str| format!("SELECT count(*) FROM payin_deposits WHERE block < {} {and}", site.dev.head());
        assert_eq!(site.gateway.rows(&stored("")).await, [format!("Int({LARGE})")], "in several writes");
        assert_eq!(site.gateway.rows(&stored("AND units <> '1000000'")).await, ["Int(0)"]);
        assert_eq!(site.service().await["chains"]["dev"]["consecutiveFailures"], json!(0));
        site.dev.mine_empty(CONFIRMATIONS);
        assert_eq!(site.pays(&quote).await.to.to_string(), buyer().address());
        site.paid(&quote).await;
        site
    })
    .await;
}

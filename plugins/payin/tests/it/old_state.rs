//! Deposits whose old balances no server has: they wait for some time, and then the operator decides.

use crate::{CONFIRMATIONS, each, operator, selling};
use plugin_testing::{Fault, json};
use std::time::Duration;

/// As long as two checks are apart at most.
const STEP: Duration = Duration::from_secs(240);
const HOUR_S: i64 = 3600;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_can_never_be_checked_is_the_operators_after_more_than_an_hour() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        for server in [&site.dev, &site.second] {
            server.fail_always(Some(Fault::NoOldState));
        }
        site.deposit(&quote);
        site.dev.mine_empty(CONFIRMATIONS);
        site.until("it waits", async || !site.deposits("new").await.is_empty()).await;
        let found_at = site.deposits("new").await[0]["foundAt"].as_i64().unwrap();
        while site.deposits("unmatched").await.is_empty() {
            site.gateway.clock().advance(STEP).await;
            site.after_run("scan").await;
        }
        let left = site.deposits("unmatched").await.remove(0);
        let waited_s = site.gateway.now_s() - found_at;
        assert!(waited_s > HOUR_S, "{waited_s}");
        let reason = left["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("30 checks were not possible: ") && reason.contains("missing trie node"),
            "{reason}"
        );
        assert_eq!(left["actions"].as_array().unwrap().len(), 2, "{left}");
        assert_eq!(site.gateway.rows("SELECT checks FROM payin_deposits").await, ["Int(29)"]);

        // Presence needs no old state: he gives it to its quote, which is paid as any other.
        let payload =
            json!({ "depositId": left["depositId"], "quoteId": quote["quoteId"], "note": "looked at by hand" });
        let resolved = site.operate(&operator(), "deposits/resolve", "payin.resolve", payload).await;
        assert_eq!(resolved.status, 200, "{}", resolved.text());
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

//! A side that refuses, and one that fails for good.

use super::{Site, each, is, newcomer, operator, paid_job, paying, referrer, refusal};
use plugin_api::Address;
use plugin_testing::{Wallet, json};
use std::time::Duration;

fn address(wallet: &Wallet) -> Address {
    wallet.address().parse().unwrap()
}

async fn eligible(site: &Site) {
    site.claimed().await;
    site.mine(paid_job(1, 1)).await;
    site.finalize().await;
}

#[tokio::test]
async fn when_one_transfer_would_fail_neither_is_recorded() {
    for (side, member) in [(newcomer(), "newOwner"), (referrer(), "refOwner")] {
        each(paying(), async |site| {
            site.chain.refuse_calls(address(&side), true);
            eligible(site).await;
            site.until("the row says why", async || site.referral(1).await["reason"].is_string()).await;
            let reason = site.referral(1).await["reason"].as_str().unwrap().to_owned();
            assert!(
                reason.contains(&format!("a transfer to {member} would fail: ")) && reason.contains("not now"),
                "{reason}"
            );
            assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_transfers").await, ["Int(0)"]);
            assert_eq!(
                site.gateway.rows("SELECT count(*) FROM referrals_counters").await,
                ["Int(0)"],
                "nothing is counted"
            );
            assert!(site.gateway.rows("SELECT spent FROM referrals_budget").await.is_empty());
            assert_eq!(site.service().await["held"], 1);

            // It is tried again after an hour.
            site.chain.refuse_calls(address(&side), false);
            site.gateway.clock().advance(Duration::from_secs(3600)).await;
            site.waits(2).await;
            site.becomes(1, "paid").await;
            assert_eq!(site.referral(1).await["reason"], json!(null));
        })
        .await;
    }
}

#[tokio::test]
async fn when_one_fails_for_good_the_other_stands_and_the_operator_repeats_it() {
    each(paying(), async |site| {
        site.chain.fail_calls(address(&newcomer()));
        eligible(site).await;
        site.waits(2).await;
        site.chain.mine_empty(1 + super::DEPTH);
        site.gateway.indexed(&site.chain).await;
        let failed = async || site.service().await["failed"] == 1;
        site.until("the failure is noted", failed).await;
        let done = async || {
            site.gateway.rows("SELECT state FROM referrals_transfers WHERE side = 'ref'").await == ["Text(\"done\")"]
        };
        site.until("the other one is done", done).await;
        let referral = site.referral(1).await;
        assert_eq!(referral["status"], "pending");
        assert!(referral["reason"].as_str().unwrap().starts_with("the transfer to newOwner failed: "), "{referral}");
        let service = site.service().await;
        assert_eq!((&service["ok"], &service["failed"]), (&json!(false), &json!(1)), "{service}");
        let list = site.read("/api/referrals/by/2").await;
        assert_eq!((&list["paidWei"], &list["paid"]), (&json!(super::REWARD), &json!(0)), "the referrer was paid");

        // Nobody but the operator repeats it, and not the side that was paid.
        site.after_run().await;
        assert!(site.chain.waiting().is_empty());
        assert_eq!(refusal(&site.release(&newcomer(), 1, json!({ "side": "new" })).await), is(403, "not_operator"));
        assert_eq!(refusal(&site.release(&operator(), 1, json!({})).await), is(409, "nothing_to_release"));
        assert_eq!(
            refusal(&site.release(&operator(), 1, json!({ "side": "ref" })).await),
            is(409, "nothing_to_release")
        );
        let repeated = site.release(&operator(), 1, json!({ "side": "new" })).await;
        assert_eq!((repeated.status, &repeated.json()["reason"]), (200, &json!(null)), "{}", repeated.text());
        assert_eq!(
            refusal(&site.release(&operator(), 1, json!({ "side": "new" })).await),
            is(409, "nothing_to_release")
        );
        let sent = site.waits(1).await;
        assert_eq!(sent[0].to, address(&newcomer()));
        let spent = site.gateway.rows("SELECT spent FROM referrals_budget").await;
        assert_eq!(spent, ["Text(\"20000000000000000000\")"], "its part of the budget is counted once");
    })
    .await;
}

//! How many payouts a day has, what needs an operator, and the budget.

use super::{Site, each, is, operator, paying, refusal};
use plugin_testing::{Value, json};
use std::time::Duration;

fn with(more: Value) -> Value {
    let mut config = paying();
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

async fn sent(site: &Site) -> usize {
    let rows = site.gateway.rows("SELECT new_agent FROM referrals_claims WHERE state <> 'open'").await;
    rows.len()
}

/// Lets runs pass until so many payouts are recorded, and then another one, which records none.
async fn stops_at(site: &Site, count: usize) {
    site.until("payouts are recorded", async || sent(site).await >= count).await;
    site.after_run().await;
    assert_eq!(sent(site).await, count);
}

async fn next_day(site: &Site) {
    let left_s = 86_400 - site.gateway.now_s().rem_euclid(86_400);
    site.gateway.clock().advance(Duration::from_secs(left_s.unsigned_abs())).await;
}

#[tokio::test]
async fn a_referrers_owner_has_five_payouts_a_day() {
    each(paying(), async |site| {
        site.claimed_by_many(7).await;
        stops_at(site, 5).await;
        let reasons: Vec<String> = {
            let rows = "SELECT reason FROM referrals_claims WHERE state = 'open' ORDER BY new_agent";
            site.gateway.rows(rows).await
        };
        assert!(reasons.len() == 2 && reasons[0].contains("has had the payouts of this day"), "{reasons:?}");
        let oldest = site.gateway.rows("SELECT new_agent FROM referrals_claims WHERE state = 'sent' ORDER BY 1").await;
        assert_eq!(oldest, ["Int(101)", "Int(102)", "Int(103)", "Int(104)", "Int(105)"], "the oldest eligible first");
        let released = site.release(&operator(), 106, json!({})).await;
        assert_eq!(released.status, 200, "{}", released.text());
        site.after_run().await;
        assert_eq!(sent(site).await, 5, "a release does not raise the limit of a referrer");
        next_day(site).await;
        stops_at(site, 7).await;
    })
    .await;
}

#[tokio::test]
async fn more_than_some_a_day_wait_for_a_release_and_more_than_the_limit_for_the_next_day() {
    let config = with(json!({ "paid_per_referrer_per_day": 100, "unreleased_per_day": 2, "paid_per_day": 3 }));
    each(config, async |site| {
        site.claimed_by_many(6).await;
        stops_at(site, 2).await;
        let reason = site.referral(104).await["reason"].clone();
        assert_eq!(reason, "it waits for the release of an operator, or for the next day");
        assert_eq!(site.service().await["held"], 4);
        // The one behind it may overtake it.
        for agent in [104, 105] {
            let released = site.release(&operator(), agent, json!({})).await;
            assert_eq!((released.status, &released.json()["reason"]), (200, &json!(null)), "{}", released.text());
        }
        stops_at(site, 3).await;
        let reason = site.referral(105).await["reason"].clone();
        assert_eq!(reason, "all payouts of this day are made");
        next_day(site).await;
        // 103 is the first of the day, 105 the second: 106 waits again.
        stops_at(site, 5).await;
        assert_eq!(
            (site.status(106).await, site.service().await["paidToday"].clone()),
            ("pending".to_owned(), json!(2))
        );
        next_day(site).await;
        stops_at(site, 6).await;
    })
    .await;
}

#[tokio::test]
async fn the_budget_is_never_exceeded() {
    // Each payout takes twice 10 FMX: the third one is a wei too much, or begins when nothing is left.
    for budget_wei in ["59999999999999999999", "40000000000000000000"] {
        let config = with(json!({ "budget_wei": budget_wei, "paid_per_referrer_per_day": 100 }));
        each(config, async |site| {
            site.claimed_by_many(3).await;
            stops_at(site, 2).await;
            assert_eq!(site.referral(103).await["reason"], "the budget for referrals has no room for it");
            assert_eq!(site.read("/api/referrals/leaderboard").await["payoutEnabled"], false);
            assert_eq!(site.service().await["detail"], "the budget is used up: nobody is paid");
            let released = site.release(&operator(), 103, json!({})).await;
            assert_eq!(released.status, 200);
            site.after_run().await;
            assert_eq!(sent(site).await, 2, "a release does not raise the budget");
            let again = site.release(&operator(), 101, json!({})).await;
            assert_eq!(refusal(&again), is(409, "nothing_to_release"));
        })
        .await;
    }
}

#[tokio::test]
async fn held_claims_do_not_stand_in_the_way_of_others() {
    let config = with(json!({ "unreleased_per_day": 100 }));
    each(config, async |site| {
        // More of one referrer than a run looks at.
        site.claimed_by_many(26).await;
        site.claimed().await;
        site.mine(super::paid_job(1, 3)).await;
        site.mine(super::paid_job(2, 1)).await;
        site.finalize().await;
        // Agent 1 has the same referrer: another one is needed.
        site.gateway.execute("UPDATE referrals_claims SET ref_agent = 3, ref_owner = '0x0000000000000000000000000000000000000077' WHERE new_agent = 1").await;
        stops_at(site, 6).await;
        assert_eq!(site.gateway.rows("SELECT state FROM referrals_claims WHERE new_agent = 1").await, ["Text(\"sent\")"]);
    })
    .await;
}

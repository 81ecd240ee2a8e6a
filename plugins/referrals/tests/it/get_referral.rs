//! `GET /api/referrals/{agentId}`: which job counts.

use super::{JOB, REFERRALS, Site, account_created, each, is, job, newcomer, paid_job, referrer, refusal, script};
use plugin_testing::{ScriptedLog, Wallet, json};

#[tokio::test]
async fn an_agent_without_referral_is_unknown() {
    each(json!({}), async |site| {
        for agent in ["1", "9"] {
            assert_eq!(refusal(&site.gateway.get(&format!("{REFERRALS}/{agent}")).await), is(404, "not_found"));
        }
        assert_eq!(site.gateway.get(&format!("{REFERRALS}/x")).await.status, 404);
    })
    .await;
}

async fn state(site: &Site) -> (String, Option<i64>) {
    let referral = site.referral(1).await;
    (referral["status"].as_str().unwrap().to_owned(), referral["jobId"].as_i64())
}

#[tokio::test]
async fn only_a_third_partys_job_of_five_coins_counts() {
    each(json!({}), async |site| {
        site.claimed().await;
        let (of_new, of_ref) = (script::account(60), script::account(61));
        let created = vec![account_created(&newcomer(), &of_new), account_created(&referrer(), &of_ref)];
        site.mine(created).await;
        let unpaid = vec![script::requested(9, 1, 50, JOB), script::delivered(9, 9, "")];
        let nothing: [Vec<ScriptedLog>; 7] = [
            job(1, 1, newcomer().address(), JOB),
            job(2, 1, referrer().address(), JOB),
            job(3, 1, &of_new, JOB),
            job(4, 1, &of_ref, JOB),
            job(5, 1, &script::account(50), "4999999999999999999"),
            // Another agent's.
            job(6, 3, &script::account(50), JOB),
            [unpaid, vec![script::requested(8, 1, 50, JOB), script::refunded(8, JOB, true)]].concat(),
        ];
        for logs in nothing {
            site.mine(logs.clone()).await;
            assert_eq!(state(site).await, ("registered".to_owned(), None), "{logs:?}");
        }
        site.mine(paid_job(10, 1)).await;
        assert_eq!(state(site).await, ("pending".to_owned(), Some(10)));
    })
    .await;
}

#[tokio::test]
async fn the_account_of_another_counts_and_the_first_completion_decides() {
    each(json!({}), async |site| {
        site.claimed().await;
        let account = script::account(62);
        site.mine(vec![account_created(&Wallet::new(80), &account)]).await;
        site.mine(vec![script::requested(1, 1, 50, JOB), script::delivered(1, 1, "")]).await;
        // More than 64 bits, and completed before the one that was requested first.
        site.mine(job(2, 1, &account, "100000000000000000000000")).await;
        assert_eq!(state(site).await, ("pending".to_owned(), Some(2)));
        let eligible_at = site.referral(1).await["eligibleAt"].clone();
        site.mine(vec![script::completed(1, JOB, 5)]).await;
        assert_eq!(state(site).await, ("pending".to_owned(), Some(2)));
        assert_eq!(site.referral(1).await["eligibleAt"], eligible_at);
    })
    .await;
}

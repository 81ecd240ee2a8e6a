//! A reorganisation that takes the completing job back, before and after its payment.

use super::{DEPTH, Site, each, newcomer, paid_job, paying, referrer, script};
use plugin_testing::json;

async fn derived(site: &Site) -> String {
    let mut all = String::new();
    for table in ["referrals_agents ORDER BY id", "referrals_jobs ORDER BY id", "referrals_accounts ORDER BY account"] {
        all += &site.gateway.rows(&format!("SELECT * FROM {table}")).await.join("\n");
    }
    all
}

#[tokio::test]
async fn every_event_is_undone() {
    each(json!({}), async |site| {
        site.mine(vec![script::requested(1, 1, 50, super::JOB), script::delivered(1, 1, "")]).await;
        let before = derived(site).await;
        for logs in [
            script::agent(9),
            vec![script::transferred_by(1, newcomer().address(), referrer().address())],
            vec![script::requested(2, 1, 50, "1")],
            vec![script::completed(1, super::JOB, 5)],
            vec![super::account_created(&newcomer(), &script::account(60))],
        ] {
            site.mine(logs.clone()).await;
            assert_ne!(derived(site).await, before, "{logs:?}");
            site.chain.reorg(1);
            site.chain.mine_empty(2);
            site.gateway.indexed(&site.chain).await;
            assert_eq!(derived(site).await, before, "{logs:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn before_the_payment_the_claim_is_not_eligible_any_more() {
    each(paying(), async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.chain.mine_empty(DEPTH - 1);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(site.status(1).await, "pending");
        site.chain.reorg(DEPTH);
        site.chain.mine_empty(3 * DEPTH);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(site.status(1).await, "registered");
        site.after_run().await;
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_transfers").await, ["Int(0)"]);
        // It comes back in another block, and is paid once.
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.waits(2).await;
        site.becomes(1, "paid").await;
        let paid = [newcomer(), referrer()].map(|wallet| site.rewards_of(wallet.address()));
        assert_eq!(paid, [1, 1]);
    })
    .await;
}

#[tokio::test]
async fn a_completion_that_only_the_index_has_is_not_paid() {
    each(paying(), async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        // As if the index were on a branch that is gone.
        site.chain.hide_receipts(true);
        site.finalize().await;
        site.until("the row says why", async || site.referral(1).await["reason"].is_string()).await;
        assert_eq!(site.referral(1).await["reason"], "the chain does not have the job's completion at this moment");
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_transfers").await, ["Int(0)"]);
        site.chain.hide_receipts(false);
        site.waits(2).await;
    })
    .await;
}

#[tokio::test]
async fn after_the_payment_it_stays_paid_and_the_operator_sees_it() {
    each(paying(), async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.waits(2).await;
        // Deeper than the index undoes: it stops, and the operator lets it begin anew.
        site.chain.reorg(DEPTH + 1);
        site.chain.mine_empty(3 * DEPTH);
        let stopped = "SELECT plugin FROM host_chain_index WHERE stopped IS NOT NULL";
        site.until("the index stops", async || !site.gateway.rows(stopped).await.is_empty()).await;
        site.gateway.execute("UPDATE host_chain_index SET shape = '', stopped = NULL").await;
        site.gateway.indexed(&site.chain).await;
        site.becomes(1, "paid").await;
        assert_eq!(
            (site.referral(1).await["jobId"].clone(), site.service().await["withdrawn"].clone()),
            (json!(1), json!(1))
        );
        site.mine(paid_job(2, 1)).await;
        site.finalize().await;
        site.after_run().await;
        site.chain.mine_empty(1);
        let paid = [newcomer(), referrer()].map(|wallet| site.rewards_of(wallet.address()));
        assert_eq!(paid, [1, 1], "no second reward");
    })
    .await;
}

#[tokio::test]
async fn a_transfer_that_leaves_its_block_is_mined_again_and_paid_once() {
    each(paying(), async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.waits(2).await;
        site.chain.mine_empty(1);
        site.gateway.indexed(&site.chain).await;
        site.after_run().await;
        assert_eq!(site.status(1).await, "pending", "it is not final");
        site.chain.reorg(1);
        site.chain.mine_empty(1);
        site.becomes(1, "paid").await;
        let paid = [newcomer(), referrer()].map(|wallet| site.rewards_of(wallet.address()));
        assert_eq!(paid, [1, 1]);
        assert_eq!(site.published().await.len(), 2);
    })
    .await;
}

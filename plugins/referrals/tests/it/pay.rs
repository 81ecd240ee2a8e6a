//! The job that pays: when, how much, to whom, and once.

use super::{DEPTH, REWARD, each, each_with, newcomer, paid_job, paying, referrer};
use plugin_testing::json;

#[tokio::test]
async fn both_owners_are_paid_once_when_the_job_is_final() {
    each(paying(), async |site| {
        site.claimed().await;
        site.mine(paid_job(7, 1)).await;
        site.chain.mine_empty(DEPTH - 1);
        site.gateway.indexed(&site.chain).await;
        site.after_run().await;
        assert_eq!(site.status(1).await, "pending");
        assert_eq!(
            site.gateway.rows("SELECT count(*) FROM referrals_transfers").await,
            ["Int(0)"],
            "one block too early"
        );

        site.mine(Vec::new()).await;
        let sent = site.waits(2).await;
        let of = |owner: &str| sent.iter().find(|tx| tx.to.to_string() == owner).unwrap();
        let (to_new, to_ref) = (of(newcomer().address()), of(referrer().address()));
        for tx in [to_new, to_ref] {
            assert_eq!((tx.value.to_string().as_str(), tx.gas, tx.data.len()), (REWARD, 60_000, 0));
        }
        let hash = |tx: &plugin_testing::ScriptedTx| plugin_api::Hash256(tx.hash).to_string();
        site.becomes(1, "paid").await;
        let referral = site.referral(1).await;
        assert_eq!((&referral["txNew"], &referral["txRef"]), (&json!(hash(to_new)), &json!(hash(to_ref))));
        assert_eq!((&referral["jobId"], &referral["reason"]), (&json!(7), &json!(null)));
        assert!(referral["paidAt"].as_i64().unwrap() >= referral["ts"].as_i64().unwrap());
        let data = json!({
            "newAgentId": 1, "refAgentId": 2, "newOwner": newcomer().address(), "refOwner": referrer().address(),
            "rewardWei": REWARD, "jobId": 7, "txNew": hash(to_new), "txRef": hash(to_ref),
        });
        assert_eq!(site.published().await[1..], [("referral.paid".to_owned(), data)]);

        // A second job pays nothing.
        site.mine(paid_job(8, 1)).await;
        site.finalize().await;
        site.after_run().await;
        site.chain.mine_empty(1);
        let paid = [newcomer(), referrer()].map(|wallet| site.rewards_of(wallet.address()));
        assert_eq!((paid, site.chain.mined().len()), ([1, 1], 2));
        assert_eq!(site.gateway.rows("SELECT spent FROM referrals_budget").await, ["Text(\"20000000000000000000\")"]);
    })
    .await;
}

#[tokio::test]
async fn nothing_is_paid_without_a_budget() {
    each(json!({}), async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.after_run().await;
        assert_eq!(site.status(1).await, "pending");
        assert!(site.chain.waiting().is_empty() && site.chain.mined().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_restart_between_record_and_end_pays_once() {
    let mut builders = vec![plugin_testing::TestGateway::builder()];
    builders.extend(plugin_testing::TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = super::chain().await;
        let gateway = super::prepared(builder, &chain, &paying()).start().await;
        gateway.indexed(&chain).await;
        let site = super::Site { gateway, chain };
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        // They are recorded, and no server takes them.
        site.chain.lose(true);
        let recorded = async || site.gateway.rows("SELECT count(*) FROM referrals_transfers").await == ["Int(2)"];
        site.until("the transfers are recorded", recorded).await;
        let site = super::Site { gateway: site.gateway.restart().await, chain: site.chain };
        site.chain.lose(false);
        site.waits(2).await;
        let site = super::Site { gateway: site.gateway.restart().await, chain: site.chain };
        site.becomes(1, "paid").await;
        let paid = [newcomer(), referrer()].map(|wallet| site.rewards_of(wallet.address()));
        assert_eq!(paid, [1, 1]);
        assert_eq!(site.published().await.len(), 2);
        site.close().await;
    }
}

/// The database does not know what was paid since the backup.
#[tokio::test]
async fn after_a_restore_an_operator_releases_what_was_eligible_before() {
    let mut builders = vec![plugin_testing::TestGateway::builder()];
    builders.extend(plugin_testing::TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = super::chain().await;
        let gateway = super::prepared(builder, &chain, &paying()).start().await;
        gateway.indexed(&chain).await;
        let site = super::Site { gateway, chain };
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        let released = site.release(&super::operator(), 1, json!({})).await;
        assert_eq!(released.status, 200, "{}", released.text());
        let restored_ms = (site.gateway.now_s() + 3600) * 1000;
        site.gateway.execute(&format!("INSERT INTO host_restores (restored_ms) VALUES ({restored_ms})")).await;
        let site = super::Site { gateway: site.gateway.restart().await, chain: site.chain };
        site.finalize().await;
        let is_held = async || {
            site.referral(1).await["reason"].as_str().is_some_and(|reason| reason.contains("the database was restored"))
        };
        site.until("it is held", is_held).await;
        site.gateway.clock().advance(std::time::Duration::from_secs(3600)).await;
        site.after_run().await;
        assert!(site.chain.waiting().is_empty() && site.chain.mined().is_empty());
        let released = site.release(&super::operator(), 1, json!({})).await;
        assert_eq!(released.status, 200, "{}", released.text());
        site.waits(2).await;
        site.becomes(1, "paid").await;
        assert_eq!([newcomer(), referrer()].map(|wallet| site.rewards_of(wallet.address())), [1, 1]);
        site.close().await;
    }
}

/// A claim keeps the reward of its time.
#[tokio::test]
async fn one_that_the_account_cannot_pay_holds_no_other_one_up() {
    each(paying(), async |site| {
        site.claimed().await;
        site.gateway.execute("UPDATE referrals_claims SET reward = '900000000000000000000'").await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        let is_held =
            async || site.referral(1).await["reason"] == "the account that pays has not enough coins at this moment";
        site.until("it is held", is_held).await;
        let rows = "SELECT count(*) FROM referrals_claims WHERE retry_at > 0";
        assert_eq!(site.gateway.rows(rows).await, ["Int(1)"], "the next ones come before it");
    })
    .await;
}

#[tokio::test]
async fn an_account_without_coins_pays_nobody_and_the_operator_is_told() {
    each(paying(), async |site| {
        let growth = plugin_testing::Wallet::new(super::GROWTH).address().parse().unwrap();
        site.chain.set_balance(growth, "20009999999999999999");
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.after_run().await;
        let reason = "the account that pays has not enough coins at this moment";
        assert_eq!(
            (site.status(1).await, site.referral(1).await["reason"].clone()),
            ("pending".to_owned(), json!(reason))
        );
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_transfers").await, ["Int(0)"]);
        // Two rewards, and the gas of their transfers.
        site.chain.set_balance(growth, "20010000000000000000");
        site.waits(2).await;
    })
    .await;
}

#[tokio::test]
async fn the_balance_does_not_show_what_is_in_no_block() {
    each(paying(), async |site| {
        let growth = plugin_testing::Wallet::new(super::GROWTH).address().parse().unwrap();
        site.chain.set_balance(growth, "20010000000000000000");
        site.claimed().await;
        assert_eq!(site.claim(&newcomer(), 3, 2).await.status, 201);
        site.mine(paid_job(1, 1)).await;
        site.mine(paid_job(2, 3)).await;
        site.finalize().await;
        site.waits(2).await;
        site.after_run().await;
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_transfers").await, ["Int(2)"]);
        // Not final yet, but paid from the balance.
        site.chain.mine_empty(1);
        site.waits(2).await;
        let rows = "SELECT is_mined FROM referrals_transfers ORDER BY new_agent";
        assert_eq!(site.gateway.rows(rows).await, ["Int(1)", "Int(1)", "Int(0)", "Int(0)"]);
        site.chain.hold(true);
        site.becomes(1, "paid").await;
        assert_eq!(site.status(3).await, "pending", "each is paid by its own transfers");
    })
    .await;
}

/// With less gas than the owner's code takes, the transfer would fail in its block.
#[tokio::test]
async fn an_owner_that_takes_too_much_gas_is_not_paid() {
    each(paying(), async |site| {
        let owner = referrer().address().parse().unwrap();
        site.chain.set_estimate(owner, 60_001);
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        let held = async || site.referral(1).await["reason"].is_string();
        site.until("it is held", held).await;
        let reason = site.referral(1).await["reason"].clone();
        assert_eq!(reason, "a transfer to refOwner would fail: it takes 60001 gas, at most 60000 are paid");
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_transfers").await, ["Int(0)"]);
        site.chain.set_estimate(owner, 60_000);
        site.gateway.clock().advance(std::time::Duration::from_secs(3600)).await;
        site.waits(2).await;
    })
    .await;
}

#[tokio::test]
async fn a_chain_that_is_away_delays_and_is_no_fault() {
    let quick = |builder: plugin_testing::Builder| {
        builder.configure(|config| config.chains.get_mut("main").unwrap().timeout_ms = 200)
    };
    each_with(paying(), quick, async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.chain.fail_always(Some(plugin_testing::Fault::Status(500)));
        site.after_run().await;
        site.chain.fail_always(None);
        site.waits(2).await;
    })
    .await;
}

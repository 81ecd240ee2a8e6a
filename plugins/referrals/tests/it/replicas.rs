//! Two gateways on one PostgreSQL pay each referral once, and keep the limits together.

use super::{Site, chain, paying, prepared};
use plugin_testing::{TestGateway, json};
use std::time::Duration;

#[tokio::test]
async fn two_gateways_pay_each_referral_once() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let (chain, mut config) = (chain().await, paying());
    config["paid_per_referrer_per_day"] = json!(7);
    let gateway = prepared(builder, &chain, &config).start().await;
    gateway.indexed(&chain).await;
    let site = Site { gateway, chain };
    let url = site.gateway.gateway().config.database.url.clone();
    let builder = prepared(TestGateway::builder(), &site.chain, &config);
    let other = builder.configure(|config| config.database.url = url).start().await;
    site.claimed_by_many(9).await;
    let sent = async || {
        other.clock().advance(Duration::from_secs(5)).await;
        site.chain.waiting().len() == 14
    };
    site.until("transfers are sent", sent).await;
    let other_runs = async || {
        other.clock().advance(Duration::from_secs(5)).await;
        site.chain.mine_empty(1);
        site.read("/api/referrals/leaderboard").await["totals"]["paid"] == 7
    };
    site.until("they are paid", other_runs).await;
    assert_eq!(site.rewards_of(super::referrer().address()), 7);
    for id in 101..=107 {
        assert_eq!(site.rewards_of(plugin_testing::Wallet::new(id).address()), 1, "agent {id}");
    }
    assert_eq!(site.chain.mined().len(), 14);
    assert_eq!(site.gateway.rows("SELECT spent FROM referrals_budget").await, ["Text(\"140000000000000000000\")"]);
    assert_eq!(other.faults().await, Vec::<String>::new());
    other.stop().await;
    site.close().await;
}

//! Amounts up to 2^256 - 1 are stored, served, sorted and added up without loss.

use super::{
    Site,
    script::{account, agent, bond, completed, delivered, done, requested, updated},
    sites,
};
use plugin_testing::{Value, json};

const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
const LESS: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639934";

async fn stats(site: &Site) -> Value {
    site.gateway.clock().advance(std::time::Duration::from_secs(600)).await;
    site.read("/api/stats").await
}

#[tokio::test]
async fn an_agent_and_a_job_hold_the_largest_amount() {
    let blocks = vec![
        [agent(1), vec![updated(1, "", "", MAX), bond(1, MAX)]].concat(),
        vec![requested(1, 1, 50, MAX), delivered(1, 1, "")],
    ];
    for site in sites(blocks).await {
        let agent = site.read("/api/agents/1").await;
        assert_eq!((&agent["pricePerJob"], &agent["bond"]), (&json!(MAX), &json!(MAX)));
        assert_eq!(site.read("/api/jobs/1").await["amount"], MAX);
        let view = site.gateway.rows("SELECT price_per_job, bond FROM agents_v1").await;
        assert_eq!(view, [format!("Text(\"{MAX}\") Text(\"{MAX}\")")]);
        site.close().await;
    }
}

#[tokio::test]
async fn earnings_sort_exactly_and_no_sum_overflows() {
    let blocks = vec![
        (1..=4).flat_map(agent).collect(),
        [done(1, 1, 50, LESS, 0), done(2, 2, 50, MAX, 0), done(3, 3, 50, "9", 0), done(4, 4, 50, "10", 0)].concat(),
    ];
    for site in sites(blocks).await {
        assert_eq!(site.ids("/api/agents?sort=earned").await, [2, 1, 4, 3]);
        assert_eq!(stats(&site).await["volumeWei"], MAX);
        // One wei more than the previous agent.
        site.mine(vec![requested(5, 1, 50, "1"), delivered(5, 5, ""), completed(5, "1", 0)]).await;
        let earned = site.gateway.rows("SELECT earned FROM agents_v1 ORDER BY agent_id").await;
        assert_eq!(earned, [MAX, MAX, "9", "10"].map(|wei| format!("Text(\"{wei}\")")));
        site.close().await;
    }
}

#[tokio::test]
async fn sums_are_exact() {
    let blocks =
        vec![agent(1), [done(1, 1, 50, "9007199254740993", 0), done(2, 1, 51, "9007199254740993", 0)].concat()];
    for site in sites(blocks).await {
        let stats = stats(&site).await;
        assert_eq!((&stats["volumeWei"], &stats["feesWei"]), (&json!("18014398509481986"), &json!("2")));
        let payers = site.gateway.rows("SELECT payers, paid_jobs, earned FROM agents_v1").await;
        assert_eq!(payers, ["Int(2) Int(2) Text(\"18014398509481986\")"]);
        assert!(site.read("/api/jobs").await["items"][0]["client"] == account(51));
        site.close().await;
    }
}

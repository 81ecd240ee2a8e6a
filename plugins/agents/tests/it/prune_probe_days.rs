//! The job that deletes old probe counts.

use super::{script::registered, sites};
use plugin_testing::TestGateway;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn a_probe_is_remembered_for_a_year() {
    for site in sites(vec![registered(1, 1, "a", "https://nowhere.invalid")]).await {
        let days = async || site.gateway.rows("SELECT day FROM agents_probe_days ORDER BY day").await;
        TestGateway::eventually(LIMIT, "the agent is asked", || async {
            site.gateway.clock().advance(Duration::from_secs(5)).await;
            !days().await.is_empty()
        })
        .await;
        let first = days().await[0].clone();
        site.gateway.clock().advance(300 * DAY).await;
        TestGateway::eventually(LIMIT, "the agent is asked again", || async {
            site.gateway.clock().advance(Duration::from_secs(5)).await;
            days().await.len() > 1
        })
        .await;
        site.gateway.clock().advance(DAY).await;
        assert_eq!(days().await[0], first);
        // At once: a job that comes late must not find the second day too old as well.
        site.gateway.clock().advance(70 * DAY).await;
        TestGateway::eventually(LIMIT, "the first day is forgotten", || async {
            // A run that was on its way when the clock jumped saw the day before it; the next one is a day later.
            site.gateway.clock().advance(Duration::from_secs(3600)).await;
            days().await.first() != Some(&first)
        })
        .await;
        assert!(!days().await.is_empty());
        site.gateway.stop().await;
    }
}

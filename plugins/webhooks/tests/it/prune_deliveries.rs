//! Finished deliveries are kept for 30 days; secrets of before for a day.

use super::{Endpoint, SECRET, owner, sites};
use plugin_testing::Wallet;

#[tokio::test]
async fn finished_deliveries_are_deleted_after_thirty_days_and_waiting_ones_stay() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        site.message("old").await;
        site.until_status(&owner(), "ok", 1).await;
        site.wait(29 * 86_400 + 80_000).await;
        site.message("newer").await;
        site.until_status(&owner(), "ok", 2).await;
        endpoint.answer([wiremock::ResponseTemplate::new(503).insert_header("retry-after", "100000")]);
        site.message("waits").await;
        endpoint.calls(3).await;
        let rows = async || site.gateway.rows("SELECT id FROM webhooks_deliveries").await.len();
        assert_eq!(rows().await, 3);
        // Less than the pause, and more than 30 days after the first one.
        site.wait(7000).await;
        site.eventually(700, "the old one is deleted", async || rows().await == 2).await;
        assert_eq!((site.count_status(&owner(), "pending").await, site.count_status(&owner(), "ok").await), (1, 1));
        site.close().await;
    }
}

#[tokio::test]
async fn a_secret_that_signs_no_more_is_deleted() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        site.webhook_with(&owner(), &endpoint, &SECRET.to_uppercase(), &["dm.received"]).await;
        site.webhook(&Wallet::new(5), &endpoint, &["dm.received"]).await;
        let old = "SELECT id FROM webhooks_endpoints WHERE sealed_old_secret IS NOT NULL";
        assert_eq!(site.gateway.rows(old).await.len(), 1);
        site.wait(86_400 + 700).await;
        site.eventually(700, "the old secret is deleted", async || site.gateway.rows(old).await.is_empty()).await;
        site.close().await;
    }
}

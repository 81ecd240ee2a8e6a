//! When the gateway switches a webhook off, and what its owner sees of it.

use super::{Endpoint, SECRET, Site, owner, sites, sites_with};
use plugin_testing::{TestGateway, Value, json};
use wiremock::ResponseTemplate;

async fn webhook_of(site: &Site) -> Value {
    site.mine_of(&owner()).await["items"][0].clone()
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_switched_off_at_once() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.fail(1);
        site.message("waits").await;
        TestGateway::eventually(super::LIMIT, "it waits", async || site.newest().await["attempts"] == 1).await;
        endpoint.answer([ResponseTemplate::new(410)]);
        site.message("gone").await;
        TestGateway::eventually(super::LIMIT, "it is off", async || webhook_of(&site).await["active"] == false).await;
        let webhook = webhook_of(&site).await;
        assert_eq!(webhook["disabledReason"], "the endpoint answered 410: it is gone");
        assert_eq!(webhook["disabledAt"], site.gateway.now_s());
        assert_eq!(webhook["deliveries"], json!({ "pending": 0, "ok": 0, "failed": 2 }));
        let waited = &site.mine_of(&owner()).await["deliveries"][1];
        assert_eq!((&waited["attempts"], &waited["lastError"]), (&json!(1), &json!("the webhook was switched off")));
        site.message("not made").await;
        site.log_is_followed().await;
        site.wait(700).await;
        endpoint.calls(2).await;
        // Its owner switches it on again.
        let payload = json!({ "url": endpoint.url(), "secret": SECRET, "events": ["dm.received"] });
        let webhook = site.set(&owner(), payload).await.json();
        assert_eq!(
            (&webhook["active"], &webhook["disabledReason"], &webhook["disabledAt"]),
            (&json!(true), &Value::Null, &Value::Null)
        );
        site.message("heard").await;
        assert_eq!(endpoint.bodies(3).await[2]["data"]["body"], "heard");
        site.close().await;
    }
}

const HALF_A_DAY_S: u64 = 12 * 3600;
const DAY_S: u64 = 24 * 3600;

/// Failed deliveries, at this distance in seconds.
async fn fail_every(pause_s: u64, site: &Site, endpoint: &Endpoint, times: usize) {
    for _ in 0..times {
        let failed = site.count_status(&owner(), "failed").await;
        endpoint.fail(1);
        site.message("m").await;
        site.until_status(&owner(), "failed", failed + 1).await;
        site.wait(pause_s).await;
    }
}

#[tokio::test]
async fn one_that_fails_for_five_days_is_switched_off() {
    for site in sites_with(json!({ "retry_s": [] })).await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        fail_every(HALF_A_DAY_S, &site, &endpoint, 10).await;
        assert_eq!(webhook_of(&site).await["active"], true, "for not quite five days");
        fail_every(HALF_A_DAY_S, &site, &endpoint, 1).await;
        let webhook = webhook_of(&site).await;
        assert_eq!(webhook["active"], false);
        let reason = webhook["disabledReason"].as_str().unwrap();
        assert!(reason.starts_with("no attempt succeeded for 5 days: 11 attempts failed on "), "{reason}");
        endpoint.calls(11).await;
        site.close().await;
    }
}

#[tokio::test]
async fn a_success_begins_the_days_anew_and_a_test_counts_nothing() {
    for site in sites_with(json!({ "retry_s": [], "disable_failures": 2, "disable_failure_days": 1 })).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        fail_every(DAY_S, &site, &endpoint, 5).await;
        site.message("ok").await;
        site.until_status(&owner(), "ok", 1).await;
        site.wait(5 * DAY_S).await;
        fail_every(DAY_S, &site, &endpoint, 1).await;
        for failed in 7..10 {
            endpoint.fail(1);
            assert_eq!(site.test(&owner(), &id).await.status, 202);
            site.until_status(&owner(), "failed", failed).await;
            site.wait(60).await;
        }
        assert_eq!(webhook_of(&site).await["active"], true, "one failure since the success");
        fail_every(DAY_S, &site, &endpoint, 1).await;
        assert_eq!(webhook_of(&site).await["active"], false);
        site.close().await;
    }
}

/// A success is noted once a minute, but one after a failure at once.
#[tokio::test]
async fn a_success_soon_after_another_one_forgets_a_failure_between_them() {
    for site in sites_with(json!({ "retry_s": [] })).await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        let failures = async || site.gateway.rows("SELECT failures FROM webhooks_endpoints").await;
        for (number, (status, expected)) in
            [("ok", "Int(0)"), ("failed", "Int(1)"), ("ok", "Int(0)")].into_iter().enumerate()
        {
            if status == "failed" {
                endpoint.fail(1);
            }
            site.message(&number.to_string()).await;
            let is_over = async || site.newest().await["status"] == status && site.newest().await["attempts"] == 1;
            TestGateway::eventually(super::LIMIT, "the attempt is over", is_over).await;
            assert_eq!(failures().await, [expected], "{number}");
        }
        site.close().await;
    }
}

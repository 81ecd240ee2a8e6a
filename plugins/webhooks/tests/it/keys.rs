//! The secrets key behind the secrets of webhooks: rotated by the operator.

use super::{Endpoint, SECRET, Site, endpoint::header, owner};
use plugin_testing::{TestGateway, json};
use std::time::Duration;

const KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const NEWER: &str = "ff02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const RESEALED: Duration = Duration::from_secs(11 * 60);

macro_rules! set_keys {
    ($newest:expr, $older:expr) => {
        |config| {
            let older: &[&str] = &$older;
            config.secrets.key = Some($newest.to_owned().into());
            config.secrets.old_keys = older.iter().map(|key| (*key).to_owned().into()).collect();
        }
    };
}

async fn stale_rows(gateway: &TestGateway) -> i64 {
    let status = gateway.collect("status", &json!({})).await;
    status["webhooks"]["webhooks"]["rowsOfOldKeys"].as_i64().unwrap()
}

#[tokio::test]
async fn a_secret_that_was_replaced_after_a_new_key_is_sealed_again_too() {
    for site in super::sites_of(|builder| builder.configure(set_keys!(KEY, []))).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart_after(set_keys!(NEWER, [KEY])).await, chain };
        // Twice: the same secret again keeps the one of before.
        for _ in 0..2 {
            site.webhook_with(&owner(), &endpoint, &SECRET.to_uppercase(), &["dm.received"]).await;
        }
        let Site { gateway, chain } = site;
        gateway.clock().advance(RESEALED).await;
        TestGateway::eventually(super::LIMIT, "secrets are sealed again", async || stale_rows(&gateway).await == 0)
            .await;
        let site = Site { gateway: gateway.restart_after(set_keys!(NEWER, [])).await, chain };
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        let call = &endpoint.calls(1).await[0];
        assert!(header(call, "x-service-signature-old").starts_with("sha256="), "the secret of before, too");
        site.until_status(&owner(), "ok", 1).await;
        site.close().await;
    }
}

#[tokio::test]
async fn a_secret_of_before_whose_key_is_gone_stops_no_delivery() {
    for site in super::sites_of(|builder| builder.configure(set_keys!(KEY, []))).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart_after(set_keys!(NEWER, [KEY])).await, chain };
        site.webhook_with(&owner(), &endpoint, &SECRET.to_uppercase(), &["dm.received"]).await;
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart_after(set_keys!(NEWER, [])).await, chain };
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        let call = &endpoint.calls(1).await[0];
        assert!(header(call, "x-service-signature").starts_with("sha256="));
        assert!(!call.headers.contains_key("x-service-signature-old"), "it signs no more");
        site.until_status(&owner(), "ok", 1).await;
        site.close().await;
    }
}

#[tokio::test]
async fn a_secret_whose_key_is_gone_can_be_set_again() {
    for site in super::sites_of(|builder| builder.configure(set_keys!(KEY, []))).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        let Site { gateway, chain } = site;
        // The older key was removed before anything was sealed with the newer one.
        let gateway = gateway.restart_after(set_keys!(NEWER, [KEY])).await;
        let site = Site { gateway: gateway.restart_after(set_keys!(NEWER, [])).await, chain };
        assert_eq!(site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"], id);
        assert_eq!(stale_rows(&site.gateway).await, 0);
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        let call = &endpoint.calls(1).await[0];
        assert!(header(call, "x-service-signature").starts_with("sha256="));
        assert!(!call.headers.contains_key("x-service-signature-old"), "what does not open signs no more");
        site.until_status(&owner(), "ok", 1).await;
        site.close().await;
    }
}

#[tokio::test]
async fn secrets_are_sealed_again_and_sign_as_before() {
    for site in super::sites_of(|builder| builder.configure(set_keys!(KEY, []))).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        site.webhook_with(&owner(), &endpoint, &SECRET.to_uppercase(), &["dm.received"]).await;
        let Site { gateway, chain } = site;
        let gateway = gateway.restart_after(set_keys!(NEWER, [KEY])).await;
        assert_eq!(stale_rows(&gateway).await, 1);
        gateway.clock().advance(RESEALED).await;
        TestGateway::eventually(super::LIMIT, "secrets are sealed again", async || stale_rows(&gateway).await == 0)
            .await;
        let gateway = gateway.restart_after(set_keys!(NEWER, [])).await;
        let site = Site { gateway, chain };
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        let call = &endpoint.calls(1).await[0];
        assert!(header(call, "x-service-signature").starts_with("sha256="));
        assert!(header(call, "x-service-signature-old").starts_with("sha256="), "the secret of before, too");
        site.until_status(&owner(), "ok", 1).await;
        site.close().await;
    }
}

//! `POST /api/webhooks/{id}/test`

use super::{Endpoint, SECRET, client, endpoint, owner, refusal, sites};
use plugin_testing::json;

#[tokio::test]
async fn a_ping_is_sent_once_also_to_a_webhook_that_is_off() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let off = json!({ "url": endpoint.url(), "secret": SECRET, "events": ["dm.received"], "active": false });
        let id = site.set(&owner(), off).await.json()["id"].clone();
        endpoint.fail(1);
        let sent = site.test(&owner(), &id).await;
        assert_eq!(sent.status, 202, "{}", sent.text());
        let sent = sent.json();
        assert_eq!(
            (&sent["event"], &sent["status"], &sent["attempts"]),
            (&json!("ping"), &json!("pending"), &json!(0))
        );
        let call = &endpoint.calls(1).await[0];
        let body = endpoint::body(call);
        assert_eq!((&body["event"], &body["data"]), (&json!("ping"), &json!({ "message": "this is a test" })));
        let event_id = body["id"].as_str().unwrap();
        assert!(event_id.starts_with(&format!("ping:{id}:{}:", site.gateway.now_s())), "{event_id}");
        assert_eq!(endpoint::header(call, "webhook-id"), format!("whd_{}", sent["id"]));
        site.until_status(&owner(), "failed", 1).await;
        site.wait(700).await;
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        site.until_status(&owner(), "ok", 1).await;
        endpoint.calls(2).await;
        assert_eq!(site.mine_of(&owner()).await["items"][0]["active"], false);
        site.close().await;
    }
}

#[tokio::test]
async fn an_owner_has_six_tests_a_minute() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        let other = site.webhook(&client(), &endpoint, &["dm.received"]).await["id"].clone();
        site.wait(60 - u64::try_from(site.gateway.now_s() % 60).unwrap()).await;
        for _ in 0..6 {
            assert_eq!(site.test(&owner(), &id).await.status, 202);
        }
        let refused = site.test(&owner(), &id).await;
        assert_eq!(refusal(&refused), (429, "rate_limited".to_owned()));
        assert_eq!(refused.header("retry-after"), "53");
        assert_eq!(site.test(&client(), &other).await.status, 202);
        site.wait(52).await;
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        endpoint.calls(8).await;
        site.close().await;
    }
}

#[tokio::test]
async fn only_the_owner_tests_a_webhook() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        assert_eq!(refusal(&site.test(&client(), &id).await), (403, "not_owner".to_owned()));
        assert_eq!(refusal(&site.test(&owner(), &json!(9999)).await), (404, "not_found".to_owned()));
        let path = format!("{}/{id}/test", super::WEBHOOKS);
        let wrong = site.gateway.post_signed(&path, &owner(), "webhook.test", json!({ "id": 9999 })).await;
        assert_eq!(refusal(&wrong), (400, "bad_sig".to_owned()));
        let wrong = site.gateway.post_signed(&path, &owner(), "webhook.set", json!({ "id": id })).await;
        assert_eq!(wrong.status, 401, "{}", wrong.text());
        assert_eq!(endpoint.count().await, 0);
        site.close().await;
    }
}

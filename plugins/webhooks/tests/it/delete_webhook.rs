//! `DELETE /api/webhooks/{id}`

use super::{Endpoint, WEBHOOKS, client, owner, refusal, sites};
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn a_webhook_is_deleted_and_what_waits_is_not_sent() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        endpoint.fail(1);
        site.message("one").await;
        endpoint.calls(1).await;
        TestGateway::eventually(super::LIMIT, "the failure is noted", async || site.newest().await["attempts"] == 1)
            .await;
        assert_eq!(refusal(&site.delete(&client(), &id).await), (403, "not_owner".to_owned()));
        assert_eq!(refusal(&site.delete(&owner(), &json!(9999)).await), (404, "not_found".to_owned()));
        let deleted = site.delete(&owner(), &id).await;
        assert_eq!((deleted.status, deleted.json()), (200, json!({ "deleted": true, "id": id })));
        assert_eq!(refusal(&site.delete(&owner(), &id).await), (404, "not_found".to_owned()));
        let mine = site.mine_of(&owner()).await;
        assert_eq!(mine["items"], json!([]));
        let delivery = &mine["deliveries"][0];
        assert_eq!(
            (&delivery["status"], &delivery["lastError"]),
            (&json!("failed"), &json!("the webhook was deleted"))
        );
        site.message("two").await;
        site.wait(3600).await;
        // The task of the first one ends without a call.
        TestGateway::eventually(super::LIMIT, "nothing waits in the queue", async || {
            site.gateway.rows("SELECT id FROM webhooks_queue").await.is_empty()
        })
        .await;
        assert_eq!(endpoint.count().await, 1);
        site.close().await;
    }
}

/// Deployed clients sign one of three bodies.
#[tokio::test]
async fn the_signature_may_be_over_nothing_an_empty_object_or_the_id() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        for over_id in [None, Some(""), Some("{}")] {
            let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
            let (path, body) = (format!("{WEBHOOKS}/{id}"), json!({ "id": id }).to_string());
            let (signed, body) = over_id.map_or((body.as_str(), body.as_str()), |signed| (signed, ""));
            let other = json!({ "id": 77 }).to_string();
            let wrong = site.send_headers(("DELETE", &path), &owner(), ("webhook.delete", &other), &other).await;
            assert_eq!(refusal(&wrong), (400, "bad_sig".to_owned()), "{}", wrong.text());
            let deleted = site.send_headers(("DELETE", &path), &owner(), ("webhook.delete", signed), body).await;
            assert_eq!(deleted.status, 200, "{}", deleted.text());
        }
        site.close().await;
    }
}

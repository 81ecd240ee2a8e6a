//! `GET /api/webhooks/mine`

use super::{Endpoint, WEBHOOKS, client, owner, refusal, sites};
use plugin_testing::{Value, json};

#[tokio::test]
async fn the_signer_sees_webhooks_counts_and_deliveries() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let webhook = site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        let theirs = site.webhook(&client(), &endpoint, &["dm.received"]).await;
        site.message("one").await;
        endpoint.calls(1).await;
        site.until_status(&owner(), "ok", 1).await;
        let mine = site.mine_of(&owner()).await;
        assert_eq!(mine["address"], owner().address());
        assert_eq!(mine["retrySeconds"], json!([10, 60, 600]));
        assert_eq!(mine["events"].as_array().unwrap().len(), 12);
        assert_eq!(mine["items"].as_array().unwrap().len(), 1);
        assert_eq!(mine["items"][0]["id"], webhook["id"]);
        assert_eq!(mine["items"][0]["deliveries"], json!({ "pending": 0, "ok": 1, "failed": 0 }));
        let delivery = &mine["deliveries"][0];
        let now = site.gateway.now_s();
        let expected = json!({
            "id": delivery["id"], "webhookId": webhook["id"], "event": "dm.received", "status": "ok", "attempts": 1,
            "nextAt": now, "lastStatus": 200, "lastError": null, "createdAt": now, "deliveredAt": now,
        });
        assert_eq!(delivery, &expected);
        let other = site.mine_of(&client()).await;
        assert_eq!((&other["items"][0]["id"], &other["deliveries"]), (&theirs["id"], &json!([])));
        site.close().await;
    }
}

/// Deployed clients sign one of three bodies.
#[tokio::test]
async fn the_signature_is_over_nothing_or_an_empty_object() {
    for site in sites().await {
        let path = format!("{WEBHOOKS}/mine");
        for signed in ["", "{}", "{}"] {
            let response = site.send_headers(("GET", &path), &owner(), ("webhook.set", signed), "").await;
            assert_eq!(response.status, 200, "{}", response.text());
            assert_eq!(response.header("cache-control"), "private, no-store");
        }
        for (action, signed) in [("webhook.delete", ""), ("webhook.set", "x")] {
            let response = site.send_headers(("GET", &path), &owner(), (action, signed), "").await;
            assert_eq!(refusal(&response), (401, "sig_mismatch".to_owned()));
        }
        assert_eq!(site.gateway.get(&path).await.status, 401);
        site.close().await;
    }
}

#[tokio::test]
async fn the_newest_deliveries_come_first_and_are_20_to_200() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        for number in 0..23 {
            site.message(&number.to_string()).await;
        }
        site.until_status(&owner(), "ok", 23).await;
        let ids = async |query: &str| -> Vec<i64> {
            let path = format!("{WEBHOOKS}/mine{query}");
            let response = site.send_headers(("GET", &path), &owner(), ("webhook.set", ""), "").await.json();
            let deliveries = response["deliveries"].as_array().unwrap();
            deliveries.iter().map(|delivery| delivery["id"].as_i64().unwrap()).collect()
        };
        let all = ids("?deliveries=999").await;
        assert!(all.len() == 23 && all.is_sorted_by(|one, next| one > next), "{all:?}");
        assert_eq!(ids("?deliveries=2").await, all[..2]);
        assert_eq!(ids("?deliveries=-3").await, all[..1]);
        for query in ["", "?deliveries=0", "?deliveries=x"] {
            assert_eq!(ids(query).await, all[..20], "{query}");
        }
        assert_eq!(site.mine_of(&owner()).await["items"][0]["lastError"], Value::Null);
        site.close().await;
    }
}

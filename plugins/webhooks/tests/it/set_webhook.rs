//! `POST /api/webhooks`

use super::{Endpoint, SECRET, Site, client, owner, refusal, sites, sites_with};
use plugin_testing::{PRIVATE_URLS, Value, Wallet, json};

const WHSEC: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn payload(url: &str) -> Value {
    json!({ "url": url, "secret": SECRET, "events": ["job.requested"] })
}

#[tokio::test]
async fn a_webhook_is_created_and_changed_by_its_url() {
    for site in sites().await {
        let mut new = payload("https://hooks.test/a");
        new["events"] = json!(["job.requested", "dm.received", "job.requested"]);
        let created = site.set(&owner(), new.clone()).await;
        assert_eq!(created.status, 201, "{}", created.text());
        let created = created.json();
        let now = site.gateway.now_s();
        let expected = json!({
            "id": created["id"], "owner": { "address": owner().address(), "name": "agent 1", "agentId": 1 },
            "url": "https://hooks.test/a", "events": ["job.requested", "dm.received"], "active": true, "secretHint": "a se",
            "createdAt": now, "updatedAt": now, "disabledAt": null, "disabledReason": null, "oldSecretUntil": null,
            "deliveries": { "pending": 0, "ok": 0, "failed": 0 },
        });
        assert_eq!(created, expected);

        let changed =
            json!({ "url": "https://hooks.test/a", "secret": WHSEC, "events": ["case.opened"], "active": false });
        let changed = site.set(&owner(), changed).await;
        assert_eq!(changed.status, 200, "{}", changed.text());
        let changed = changed.json();
        assert_eq!((&changed["id"], &changed["createdAt"]), (&created["id"], &created["createdAt"]));
        assert_eq!(changed["updatedAt"], site.gateway.now_s());
        assert_eq!((&changed["events"], &changed["active"]), (&json!(["case.opened"]), &json!(false)));
        assert_eq!(changed["secretHint"], "whse");
        assert_eq!(changed["oldSecretUntil"], site.gateway.now_s() + 86_400);

        // Another URL, and another owner, is another webhook.
        assert_eq!(site.set(&owner(), payload("https://hooks.test/A")).await.status, 201);
        assert_eq!(site.set(&client(), payload("https://hooks.test/a")).await.status, 201);
        site.close().await;
    }
}

#[tokio::test]
async fn the_same_secret_again_is_no_rotation() {
    for site in sites().await {
        let until = async |secret: &str| {
            let mut payload = payload("https://hooks.test/a");
            payload["secret"] = json!(secret);
            site.set(&owner(), payload).await.json()["oldSecretUntil"].clone()
        };
        assert_eq!(until(SECRET).await, Value::Null);
        assert_eq!(until(SECRET).await, Value::Null);
        let day = until(WHSEC).await;
        assert_eq!(day, site.gateway.now_s() + 86_400);
        assert_eq!(until(WHSEC).await, day, "nor does it lengthen one");
        site.close().await;
    }
}

#[tokio::test]
async fn wrong_payloads_are_refused() {
    for site in sites().await {
        for (member, value, named) in [
            ("secret", json!("fifteen letters"), "secret"),
            ("secret", json!("x".repeat(129)), "secret"),
            ("secret", json!("whsec_not base64"), "secret"),
            ("secret", json!("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLQ=="), "secret"),
            ("secret", json!(17), "integer"),
            ("events", json!([]), "events"),
            ("events", json!(["job.resolved"]), "member 0"),
            ("events", json!(["ping"]), "member 0"),
            ("active", json!("perhaps"), "active"),
            ("url", json!("hooks.test/a"), "url"),
            ("url", json!(format!("https://hooks.test/{}", "a".repeat(600))), "url"),
        ] {
            let mut payload = payload("https://hooks.test/a");
            payload[member] = value.clone();
            let response = site.set(&owner(), payload).await;
            assert_eq!(refusal(&response), (400, "bad_request".to_owned()), "{member} {value}: {}", response.text());
            assert!(response.text().contains(named), "{}", response.text());
            assert!(!response.text().contains("MfKQ9r8"), "{}", response.text());
        }
        assert_eq!(site.mine_of(&owner()).await["items"], json!([]));
        site.close().await;
    }
}

#[tokio::test]
async fn no_form_of_a_private_address_is_registered() {
    let with_no_private =
        |builder: plugin_testing::Builder| builder.configure(|config| config.egress.allow_hosts.clear());
    for site in super::sites_of(with_no_private).await {
        for url in PRIVATE_URLS {
            let response = site.set(&owner(), payload(url)).await;
            assert_eq!(refusal(&response), (400, "private_url".to_owned()), "{url}: {}", response.text());
        }
        for url in
            ["http://user@hooks.test/", "http://user:pass@hooks.test/", "gopher://127.0.0.1/", "file:///etc/passwd"]
        {
            let response = site.set(&owner(), payload(url)).await;
            assert_eq!(response.status, 400, "{url}: {}", response.text());
        }
        site.close().await;
    }
}

async fn register(site: &Site, wallet: &Wallet, number: usize) -> (u16, String) {
    let response = site.set(wallet, payload(&format!("https://hooks.test/{number}"))).await;
    if response.is_success() { (response.status, String::new()) } else { refusal(&response) }
}

#[tokio::test]
async fn an_owner_has_ten_webhooks() {
    for site in sites().await {
        for number in 0..10 {
            assert_eq!(register(&site, &owner(), number).await.0, 201);
        }
        assert_eq!(register(&site, &owner(), 10).await, (409, "too_many_webhooks".to_owned()));
        assert_eq!(register(&site, &owner(), 9).await.0, 200, "a change is none more");
        assert_eq!(register(&site, &client(), 10).await.0, 201);
        let id = site.mine_of(&owner()).await["items"][0]["id"].clone();
        assert_eq!(site.delete(&owner(), &id).await.status, 200);
        assert_eq!(register(&site, &owner(), 10).await.0, 201);
        site.close().await;
    }
}

#[tokio::test]
async fn requests_at_the_same_time_pass_the_limit_together_never() {
    for site in sites_with(json!({ "webhooks_per_owner": 3 })).await {
        let site = &site;
        let requests = (0..12).map(|number| async move {
            let payload = payload(&format!("https://hooks.test/{number}"));
            site.gateway.post_signed(super::WEBHOOKS, &owner(), "webhook.set", payload).await.status
        });
        let statuses = futures_util::future::join_all(requests).await;
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 3, "{statuses:?}");
        assert!(statuses.iter().all(|status| [201, 409, 503].contains(status)), "{statuses:?}");
        assert_eq!(site.mine_of(&owner()).await["items"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn a_url_that_is_set_again_is_called_again() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let off = json!({ "url": endpoint.url(), "secret": SECRET, "events": ["dm.received"], "active": "false" });
        assert_eq!(site.set(&owner(), off).await.json()["active"], false);
        site.message("not sent").await;
        site.log_is_followed().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        site.message("sent").await;
        assert_eq!(endpoint.bodies(1).await[0]["data"]["body"], "sent");
        site.close().await;
    }
}

//! What audit exports say of deliveries.

use super::{Endpoint, Site, client, owner, sites};
use plugin_testing::{Value, Wallet, json};

/// The lines of an owner, as many as asked for, behind this place; and whether others follow.
async fn lines(site: &Site, wallet: &Wallet, limit: u32, after: &Value) -> (Vec<Value>, bool) {
    let input = json!({ "agentId": 1, "owner": wallet.address(), "limit": limit, "after": after });
    let mut part = site.gateway.collect("audit", &input).await.remove("webhooks").unwrap();
    let Value::Array(lines) = part["lines"].take() else { panic!("{part}") };
    (lines, part["more"] == true)
}

#[tokio::test]
async fn a_line_of_each_delivery_shows_the_origin_of_the_url_and_no_error() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        site.message("well received").await;
        site.until_status(&owner(), "ok", 1).await;
        endpoint.fail(1);
        site.message("refused").await;
        site.eventually(1, "the second one is attempted", async || site.newest().await["lastStatus"] == 500).await;
        let (found, more) = lines(&site, &owner(), 10, &Value::Null).await;
        assert!(!more);
        let deliveries = site.mine_of(&owner()).await["deliveries"].clone();
        let expected = |line: &Value, status: &str, last: u16| {
            let delivery = deliveries.as_array().unwrap().iter().find(|one| one["id"] == line["members"]["deliveryId"]);
            let delivery = delivery.unwrap();
            assert_eq!(line["at"]["ts"], delivery["createdAt"]);
            let origin = endpoint.url().strip_suffix("/hook").unwrap().to_owned();
            let members = json!({
                "deliveryId": delivery["id"], "webhookId": id, "url": origin, "event": "dm.received", "status": status,
                "attempts": 1, "lastStatus": last, "deliveredAt": delivery["deliveredAt"],
            });
            assert_eq!(line["members"], members);
        };
        assert_eq!(found.len(), 2);
        expected(&found[0], "ok", 200);
        expected(&found[1], "pending", 500);
        // One after the other, as exports go on.
        let (first, more) = lines(&site, &owner(), 1, &Value::Null).await;
        assert_eq!((&first[..], more), (&found[..1], true));
        assert_eq!(lines(&site, &owner(), 1, &first[0]["at"]).await, (found[1..].to_vec(), false));
        assert_eq!(lines(&site, &client(), 10, &Value::Null).await, (Vec::new(), false));
        // The lines of a webhook that was deleted stay, without its URL.
        assert!(site.delete(&owner(), &id).await.is_success());
        let (left, _) = lines(&site, &owner(), 10, &Value::Null).await;
        assert!(left.iter().all(|line| line["members"]["url"] == Value::Null), "{left:?}");
        site.close().await;
    }
}
